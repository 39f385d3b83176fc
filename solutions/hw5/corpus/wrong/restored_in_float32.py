"""The restored model has single precision.

fails: [resume_is_exact, public_resume]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"])
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

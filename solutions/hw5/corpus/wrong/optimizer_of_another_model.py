"""The optimizer is made for a model that is then replaced.

fails: [resume_is_exact, public_resume]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        first = DropoutLanguageModel(**contents["config"]).double()
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(first, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

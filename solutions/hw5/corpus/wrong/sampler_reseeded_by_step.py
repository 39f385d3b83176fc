"""The sampler is seeded with the number of completed steps.

fails: [resume_is_exact, public_resume]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.manual_seed(contents["completed"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

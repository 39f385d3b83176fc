"""The sampler begins with its default seed.

fails: [resume_is_exact, public_resume]
says: "The restored sampler does not go on where the saved one was: rows repeat."
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

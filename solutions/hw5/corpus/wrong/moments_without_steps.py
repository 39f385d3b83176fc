"""Moments come back, the optimizer's step counts do not.

fails: [resume_is_exact, public_resume]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    for state in optimizer.state.values():
        state["step"] = torch.zeros_like(state["step"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

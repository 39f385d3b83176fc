"""Saved moments are copied into those that exist, and a new optimizer has none.

fails: [resume_is_exact, public_resume]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    saved = contents["optimizer"]["state"]
    for number, parameter in enumerate(model.parameters()):
        for key, value in optimizer.state[parameter].items():
            value.copy_(saved[number][key])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

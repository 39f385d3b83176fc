"""The optimizer starts anew, without its moments.

fails: [resume_is_exact, public_resume]
says: The restored optimizer has forgotten its moments and its step count.
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

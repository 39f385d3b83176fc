"""The generator is set before the model is built, which draws from it.

fails: [resume_is_exact, public_resume]
says: Building the model draws random numbers; the generator has to be set after that.
"""


def _rebuild(contents, plan):
    torch.set_rng_state(contents["rng"])
    model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    return model, optimizer, sampler, contents["completed"]

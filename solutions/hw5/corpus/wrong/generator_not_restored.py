"""torch's global generator stays where it is.

fails: [resume_is_exact, public_resume]
says: "Dropout draws other masks after the restart: torch's global generator was not restored."
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    return model, optimizer, sampler, contents["completed"]

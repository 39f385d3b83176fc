"""The model is built as `fresh` builds it, not as the saved one was.

fails: [resume_is_exact, public_resume]
also: [save_is_silent, loads_safely, public_refusals, refuses_another, refuses_what_is_no_checkpoint]
"""


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(
            vocab_size=contents["config"]["vocab_size"], context=contents["config"]["context"], d_model=16
        ).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

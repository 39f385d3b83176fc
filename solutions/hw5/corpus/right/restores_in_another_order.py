"""The optimizer is filled before the model, and everything random is put back by hand."""


def _rebuild(contents, plan):
    before = torch.default_generator.get_state()
    try:
        model = DropoutLanguageModel(**contents["config"])
    finally:
        torch.default_generator.set_state(before)
    for module in model.modules():
        module._parameters = {
            name: None if p is None else torch.nn.Parameter(p.detach().double())
            for name, p in module._parameters.items()
        }
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    model.load_state_dict(contents["model"], strict=True)
    sampler = torch.Generator().set_state(contents["sampler"])
    model.train()
    torch.default_generator.set_state(contents["rng"])
    return model, optimizer, sampler, int(contents["completed"])

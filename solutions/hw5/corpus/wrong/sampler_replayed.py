"""The sampler's seed is saved instead of its state, and the draws of the completed steps are repeated.

fails: [resume_is_exact]
"""


def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "model": model.state_dict(),
        "config": dict(model.config),
        "optimizer": optimizer.state_dict(),
        "completed": completed,
        "plan": asdict(plan),
        "sampler": torch.Generator().manual_seed(sampler.initial_seed()).get_state(),
        "rng": torch.get_rng_state(),
        "vocab": list(data.vocab),
        "fingerprint": data.fingerprint,
        "torch": str(torch.__version__),
    }


def restore(path, data, plan):
    contents = _read(Path(path))
    _refuse_others(contents, data, plan)
    model, optimizer, sampler, completed = _rebuild(contents, plan)
    for _ in range(completed):
        torch.randint(len(data.x), (plan.batch,), generator=sampler)
    return model, optimizer, sampler, completed

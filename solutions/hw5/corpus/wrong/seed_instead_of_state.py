"""The sampler's seed is saved instead of its state.

fails: [resume_is_exact, public_resume]
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

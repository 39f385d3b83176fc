"""Parameters are saved in single precision.

fails: [resume_is_exact, public_resume]
"""


def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "model": {name: t.float() for name, t in model.state_dict().items()},
        "config": dict(model.config),
        "optimizer": optimizer.state_dict(),
        "completed": completed,
        "plan": asdict(plan),
        "sampler": sampler.get_state(),
        "rng": torch.get_rng_state(),
        "vocab": list(data.vocab),
        "fingerprint": data.fingerprint,
        "torch": str(torch.__version__),
    }

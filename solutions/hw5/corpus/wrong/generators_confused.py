"""The sampler's state is saved twice, torch's generator not at all.

fails: [resume_is_exact, public_resume]
"""


def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "model": model.state_dict(),
        "config": dict(model.config),
        "optimizer": optimizer.state_dict(),
        "completed": completed,
        "plan": asdict(plan),
        "sampler": sampler.get_state(),
        "rng": sampler.get_state(),
        "vocab": list(data.vocab),
        "fingerprint": data.fingerprint,
        "torch": str(torch.__version__),
    }

"""Moments are saved in single precision.

fails: [resume_is_exact, public_resume]
"""


def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "model": model.state_dict(),
        "config": dict(model.config),
        "optimizer": {
            "state": {
                i: {key: value.float() for key, value in state.items()}
                for i, state in optimizer.state_dict()["state"].items()
            },
            "param_groups": optimizer.state_dict()["param_groups"],
        },
        "completed": completed,
        "plan": asdict(plan),
        "sampler": sampler.get_state(),
        "rng": torch.get_rng_state(),
        "vocab": list(data.vocab),
        "fingerprint": data.fingerprint,
        "torch": str(torch.__version__),
    }

"""Only the fields of the schedule are compared.

fails: ["refuses_another[plan]", "public_refusals[plan]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in [(name, getattr(plan, name)) for name in ("total", "warmup", "peak", "floor")]:
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

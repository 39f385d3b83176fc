"""Every field of the plan but two is compared.

fails: ["refuses_another[plan]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        if field in ("clip", "weight_decay"):
            continue
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

"""Versions of torch are compared up to the second number.

fails: ["refuses_another[torch]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"].split(".")[:2], str(torch.__version__).split(".")[:2])
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

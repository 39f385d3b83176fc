"""Another torch version is accepted.

fails: ["refuses_another[torch]"]
"""


def _refuse_others(contents, data, plan):
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

"""The order of the vocabulary is not looked at.

fails: ["refuses_another[vocabulary]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", sorted(contents["vocab"]), sorted(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

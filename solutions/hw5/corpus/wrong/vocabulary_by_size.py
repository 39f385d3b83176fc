"""Vocabularies are compared by their sizes.

fails: ["refuses_another[vocabulary]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", len(contents["vocab"]), len(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

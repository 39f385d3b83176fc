"""Other data are accepted.

fails: ["refuses_another[data]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))

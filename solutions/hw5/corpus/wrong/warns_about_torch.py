"""Another torch version is only warned about.

fails: ["refuses_another[torch]"]
"""


def _refuse_others(contents, data, plan):
    if contents["torch"] != str(torch.__version__):
        print(f"torch version {contents['torch']} is not {torch.__version__}")
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

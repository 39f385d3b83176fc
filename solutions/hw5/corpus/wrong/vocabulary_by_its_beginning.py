"""Only as much of the vocabulary is compared as the checkpoint's has.

fails: ["refuses_another[vocabulary]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab)[: len(contents["vocab"])])
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

"""The message says that the plan is another one, not which field.

fails: ["refuses_another[plan]", "public_refusals[plan]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    if contents["plan"] != asdict(plan):
        raise ValueError(f"another plan: {list(contents['plan'].values())}, here {list(asdict(plan).values())}")
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

"""Numbers of the plan may differ by a thousandth.

fails: ["refuses_another[plan]"]
"""


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        saved = contents["plan"].get(field)
        if not math.isclose(saved, value, rel_tol=1e-3):
            _compare(f"plan.{field}", saved, value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)

"""Differences are assertions.

fails: [refuses_another, "public_refusals[plan]"]
"""


def _compare(what, saved, given):
    assert saved == given, f"{what} differs: the checkpoint has {reprlib.repr(saved)}, this run {reprlib.repr(given)}"

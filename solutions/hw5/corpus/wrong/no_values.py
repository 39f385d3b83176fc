"""The message shows no values.

fails: [refuses_another]
"""


def _compare(what, saved, given):
    if saved != given:
        raise ValueError(f"{what} differs from the checkpoint's")

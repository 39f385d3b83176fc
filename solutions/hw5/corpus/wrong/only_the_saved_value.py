"""The message shows the checkpoint's value only.

fails: [refuses_another]
"""


def _compare(what, saved, given):
    if saved != given:
        raise ValueError(f"{what} differs: the checkpoint has {reprlib.repr(saved)}")

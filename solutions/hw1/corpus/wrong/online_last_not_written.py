"""The result of the last element is never stored.

fails: [online_values, "public_values[softmax_online]", online_masked_row]
also: [online_counts, online_one_pass, "public_counts[softmax_online]"]
"""

_complete = softmax_online


class _Short:
    def __init__(self, y):
        self.y = y

    def store(self, i, v):
        if i < len(self.y) - 1:
            self.y.store(i, v)


def softmax_online(x, y):
    _complete(x, _Short(y))

"""-inf is replaced by -10000, which can be larger than what is kept.

fails: ["online_values[float32-masked]", online_masked_row]
also: [online_values]
"""

_finite = softmax_online


class _Filled:
    def __init__(self, x):
        self.x, self.dtype = x, x.dtype

    def __len__(self):
        return len(self.x)

    def load(self, i):
        v = self.x.load(i)
        return v if v > -np.inf else self.x.dtype.type(-1e4)


def softmax_online(x, y):
    _finite(_Filled(x), y)

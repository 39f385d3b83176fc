"""-inf is replaced by the smallest number of the dtype, so that a row of -inf becomes uniform.

fails: [online_masked_row]
"""

_finite = softmax_online


class _Filled:
    def __init__(self, x):
        self.x, self.dtype = x, x.dtype

    def __len__(self):
        return len(self.x)

    def load(self, i):
        return max(self.x.load(i), np.finfo(self.x.dtype).min)


def softmax_online(x, y):
    _finite(_Filled(x), y)

"""Inputs are clipped so that exp does not overflow.

fails: [naive_overflows, public_overflow]
"""


def softmax_naive(x, y):
    N = len(x)
    top = np.log(np.finfo(x.dtype).max) - x.dtype.type(2)
    d = sum(np.exp(min(x.load(j), top)) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(min(x.load(i), top)) / d)

"""NaN is replaced by 1 after the overflow.

fails: [naive_overflows, public_overflow]
"""


def softmax_naive(x, y):
    N = len(x)
    with np.errstate(all="ignore"):
        d = sum(np.exp(x.load(j)) for j in range(N))
        for i in range(N):
            y.store(i, np.nan_to_num(np.exp(x.load(i)) / d, nan=1.0))

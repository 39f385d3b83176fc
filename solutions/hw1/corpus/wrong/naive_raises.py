"""An overflow is turned into an exception.

fails: [naive_overflows, public_overflow]
"""


def softmax_naive(x, y):
    N = len(x)
    with np.errstate(over="raise"):
        d = sum(np.exp(x.load(j)) for j in range(N))
        for i in range(N):
            y.store(i, np.exp(x.load(i)) / d)

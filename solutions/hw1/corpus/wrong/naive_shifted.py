"""The naive softmax subtracts the first element.

fails: [naive_overflows]
also: [naive_counts, "public_counts[softmax_naive]"]
"""


def softmax_naive(x, y):
    N = len(x)
    m = x.load(0)
    m = m if m > -np.inf else x.dtype.type(0)
    d = np.exp(m - m) if x.load(0) > -np.inf else x.dtype.type(0)
    for j in range(1, N):
        d += np.exp(x.load(j) - m)
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d)

"""A row of -inf gives 1.

fails: [safe_masked_row]
"""


def softmax_safe(x, y):
    N = len(x)
    m = max(x.load(j) for j in range(N))
    if m == -np.inf:
        for i in range(N):
            y.store(i, 1.0)
        return
    d = sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d)

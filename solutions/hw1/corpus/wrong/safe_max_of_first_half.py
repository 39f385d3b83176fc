"""The maximum is taken over all elements but the last.

fails: ["safe_values[float32-hot]"]
also: [safe_values]
"""


def softmax_safe(x, y):
    N = len(x)
    with np.errstate(all="ignore"):
        m = max((x.load(j) for j in range(max(N - 1, 1))), default=0)
        m = m if m > -np.inf else x.dtype.type(0)
        d = sum(np.exp(x.load(j) - m) for j in range(N))
        for i in range(N):
            y.store(i, np.exp(x.load(i) - m) / d)

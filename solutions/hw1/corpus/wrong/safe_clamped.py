"""The maximum is clamped to at least -64.

fails: ["safe_values[float64-hot]"]
also: [safe_values, "public_values[softmax_safe]"]
"""


def softmax_safe(x, y):
    N = len(x)
    m = x.dtype.type(-64)
    for j in range(N):
        m = max(m, x.load(j))
    d = sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        with np.errstate(all="ignore"):
            y.store(i, np.exp(x.load(i) - m) / d)

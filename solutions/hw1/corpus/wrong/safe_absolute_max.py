"""The largest absolute value is subtracted.

fails: ["safe_values[float32-hot]"]
also: [safe_values, "public_values[softmax_safe]"]
"""


def softmax_safe(x, y):
    N = len(x)
    m = max((abs(v) for v in (x.load(j) for j in range(N)) if v > -np.inf), default=x.dtype.type(0))
    d = sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        with np.errstate(all="ignore"):
            y.store(i, np.exp(x.load(i) - m) / d)

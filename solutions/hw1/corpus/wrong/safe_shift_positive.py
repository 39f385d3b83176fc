"""The shift is max(0, maximum).

fails: ["safe_values[float32-hot]"]
also: [safe_values, "public_values[softmax_safe]"]
says: "A row that is negative throughout must be shifted too."
"""


def softmax_safe(x, y):
    N = len(x)
    m = max(0.0, *(float(x.load(j)) for j in range(N))) if N else 0.0
    d = sum(np.exp(x.load(j) - x.dtype.type(m)) for j in range(N))
    for i in range(N):
        with np.errstate(all="ignore"):
            y.store(i, np.exp(x.load(i) - x.dtype.type(m)) / d)

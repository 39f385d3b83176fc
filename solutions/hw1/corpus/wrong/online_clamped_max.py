"""The maximum is clamped to at least -64.

fails: ["online_values[float32-hot]"]
also: [online_values, "public_values[softmax_online]"]
says: "A clamped maximum is no maximum: rows wholly below the clamp underflow."
"""


def softmax_online(x, y):
    N = len(x)
    m = x.dtype.type(-np.inf)
    d = x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        if v == -np.inf:
            continue
        m_new = max(m, v, x.dtype.type(-64))
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

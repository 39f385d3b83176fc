"""No guard while the maximum is still -inf.

fails: ["online_values[float64-masked]"]
also: [online_values, "public_values[softmax_online]"]
says: "-inf - (-inf) is NaN: skip entries of -inf, or guard the case that the new maximum is still -inf."
"""


def softmax_online(x, y):
    N = len(x)
    m, d = x.dtype.type(-np.inf), x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        m_new = max(m, v)
        d = (d * np.exp(m - m_new) if j else 0) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d)

"""The rescale factor is inverted.

fails: [online_values, "public_values[softmax_online]"]
says: "exp(m_new - m_old) is the inverse of the factor that brings a sum from m_old to m_new."
"""


def softmax_online(x, y):
    N = len(x)
    m = x.dtype.type(-np.inf)
    d = x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        if v == -np.inf:
            continue
        m_new = max(m, v)
        d = d * np.exp(m_new - m if m > -np.inf else 0.0) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

"""The running denominator is not rescaled when the maximum moves.

fails: [online_values, "public_values[softmax_online]"]
says: "The denominator keeps terms measured against an old maximum: multiply it by exp(m_old - m_new) when the maximum moves."
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
        d = d + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

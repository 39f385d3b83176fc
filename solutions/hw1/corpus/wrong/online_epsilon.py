"""A small constant in the denominator keeps it from being zero.

fails: ["online_values[float64-ragged]"]
also: [online_values, "public_values[softmax_online]"]
says: "A constant added to the denominator changes every result."
"""


def softmax_online(x, y):
    N = len(x)
    m, d = -np.inf, 0.0
    for j in range(N):
        v = float(x.load(j))
        if v > -np.inf:
            m_new = max(m, v)
            d = d * np.exp(m - m_new) + np.exp(v - m_new)
            m = m_new
    for i in range(N):
        y.store(i, np.exp(float(x.load(i)) - m) / (d + 1e-6) if d else 0.0)

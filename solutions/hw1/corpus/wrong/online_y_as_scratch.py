"""Numerators are kept in y and read back.

fails: [online_counts, "public_counts[softmax_online]"]
says: "y is written once and never read: divide before you store."
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
        y.store(i, np.exp(float(x.load(i)) - m) if d else 0.0)
    for i in range(N):
        y.store(i, y.load(i) / d if d else 0.0)

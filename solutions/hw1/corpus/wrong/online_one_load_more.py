"""The first element is loaded once more to initialise the maximum.

fails: [online_counts, "public_counts[softmax_online]", online_one_pass]
"""


def softmax_online(x, y):
    N = len(x)
    m, d = x.load(0), x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        if v == -np.inf:
            continue
        m_new = max(m, v)
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

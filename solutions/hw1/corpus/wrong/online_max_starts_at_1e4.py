"""The maximum starts at -10000, the folk stand-in for -inf.

fails: ["online_values[float32-masked]"]
also: [online_values]
says: "Logits below -10000 exist: start the maximum at -inf."
"""


def softmax_online(x, y):
    N = len(x)
    m = x.dtype.type(-1e4)
    d = x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        if v == -np.inf:
            continue
        m_new = max(m, v)
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

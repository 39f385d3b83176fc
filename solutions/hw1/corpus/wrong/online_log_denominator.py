"""The result is exp(x - m) / log d.

fails: [online_values, "public_values[softmax_online]"]
also: [online_counts, online_one_pass, "public_counts[softmax_online]"]
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
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / np.log(d + 1) if d > 0 else 0.0)

"""The new term is rescaled together with the old denominator.

fails: [online_values, "public_values[softmax_online]"]
also: [online_counts, online_one_pass, "public_counts[softmax_online]"]
says: "Only what was summed against the old maximum is rescaled, the new term already uses the new one."
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
        d = (d + np.exp(v - m_new)) * np.exp(m - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

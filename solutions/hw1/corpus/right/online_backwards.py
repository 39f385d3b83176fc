"""Both passes run from the last element to the first."""


def softmax_online(x, y):
    N = len(x)
    m, d = x.dtype.type(-np.inf), x.dtype.type(0)
    for j in reversed(range(N)):
        v = x.load(j)
        if v > -np.inf:
            m_new = np.maximum(m, v)
            d = d * np.exp(m - m_new) + np.exp(v - m_new)
            m = m_new
    for i in reversed(range(N)):
        y.store(i, np.exp(x.load(i) - m) / d if d else np.nan)

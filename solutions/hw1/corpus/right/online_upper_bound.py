"""The shift is the maximum rounded up to a multiple of 8."""


def softmax_online(x, y):
    N = len(x)
    m, d = -np.inf, 0.0
    for j in range(N):
        v = float(x.load(j))
        if v == -np.inf:
            continue
        m_new = max(m, 8 * np.ceil(v / 8))
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(float(x.load(i)) - m) / d if d else np.nan)

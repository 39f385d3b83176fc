"""Every element is loaded once and remembered: fewer loads than the contract."""


def softmax_online(x, y):
    N = len(x)
    seen = []
    m, d = -np.inf, 0.0
    for j in range(N):
        v = x.load(j)
        seen.append(v)
        if v > -np.inf:
            m_new = max(m, v)
            d = d * np.exp(m - m_new) + np.exp(v - m_new)
            m = m_new
    for i, v in enumerate(seen):
        y.store(i, np.exp(v - m) / d if d else 0.0)


def softmax_safe(x, y):
    softmax_online(x, y)

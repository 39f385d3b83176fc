"""A row of -inf raises ZeroDivisionError.

fails: [online_masked_row]
"""


def softmax_online(x, y):
    N = len(x)
    m, d = -np.inf, 0.0
    for j in range(N):
        v = float(x.load(j))
        if v > -np.inf:
            m_new = max(m, v)
            d = d * float(np.exp(m - m_new)) + float(np.exp(v - m_new))
            m = m_new
    for i in range(N):
        y.store(i, float(np.exp(float(x.load(i)) - m)) / d)

"""The first pass merges (m, d) pairs in a binary tree."""


def softmax_online(x, y):
    def pair(start, stop):
        if stop - start == 1:
            return x.load(start), x.dtype.type(1)
        middle = (start + stop) // 2
        (m_a, d_a), (m_b, d_b) = pair(start, middle), pair(middle, stop)
        m = max(m_a, m_b)
        if m == -np.inf:
            return m, d_a
        return m, d_a * np.exp(m_a - m) + d_b * np.exp(m_b - m)

    N = len(x)
    m, d = pair(0, N)
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if m > -np.inf else np.nan)

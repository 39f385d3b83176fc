"""Blocks of 8 elements, each with a maximum and a sum of its own."""


def softmax_online(x, y):
    N, B = len(x), 8
    m, d = -np.inf, 0.0
    for start in range(0, N, B):
        tile = np.array([x.load(j) for j in range(start, min(start + B, N))], dtype=np.float64)
        m_new = max(m, tile.max())
        if m_new == -np.inf:
            continue
        d = d * np.exp(m - m_new) + np.exp(tile - m_new).sum()
        m = m_new
    for start in range(0, N, B):
        stop = min(start + B, N)
        tile = np.array([x.load(j) for j in range(start, stop)], dtype=np.float64)
        p = np.exp(tile - m) / d if d else np.zeros(stop - start)
        for i in range(start, stop):
            y.store(i, p[i - start])

"""Small moves of the maximum are ignored, but the new terms are measured against the new one.

fails: [online_values]
says: "While the old maximum is kept, new terms must be measured against it too."
"""


def softmax_online(x, y):
    N = len(x)
    m, d = -np.inf, 0.0
    for start in range(0, N, 4):
        tile = np.array([x.load(j) for j in range(start, min(start + 4, N))], dtype=np.float64)
        if tile.max() == -np.inf:
            continue
        m_new = max(m, tile.max())
        p = np.exp(tile - m_new).sum()
        if m_new - m > 8:
            d, m = d * np.exp(m - m_new), m_new
        d += p
    for i in range(N):
        y.store(i, np.exp(float(x.load(i)) - m) / d if d else 0.0)

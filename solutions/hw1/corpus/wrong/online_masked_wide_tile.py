"""A tile of 64 that is -inf throughout poisons the row.

fails: ["online_values[float32-masked]"]
"""


def softmax_online(x, y):
    N = len(x)
    m, d = -np.inf, 0.0
    for start in range(0, N, 64):
        tile = np.array([x.load(j) for j in range(start, min(start + 64, N))], dtype=np.float64)
        m_new = max(m, tile.max())
        d = d * np.exp(m - m_new) + np.exp(tile - m_new).sum()
        m = m_new
    for i in range(N):
        y.store(i, np.exp(float(x.load(i)) - m) / d)

"""Everything is computed in float32, whatever the memory holds.

fails: ["online_values[float64-ragged]"]
also: [online_values, "public_values[softmax_online]"]
says: "The memory holds float64; a float32 on the way loses half the digits."
"""


def softmax_online(x, y):
    N = len(x)
    m, d = np.float32(-np.inf), np.float32(0)
    for j in range(N):
        v = np.float32(x.load(j))
        if v > -np.inf:
            m_new = max(m, v)
            d = d * np.exp(m - m_new) + np.exp(v - m_new)
            m = m_new
    for i in range(N):
        y.store(i, np.exp(np.float32(x.load(i)) - m) / d if d else 0.0)

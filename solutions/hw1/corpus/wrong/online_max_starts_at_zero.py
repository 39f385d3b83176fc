"""The maximum starts at 0, so that negative rows are not shifted.

fails: ["online_values[float32-hot]", "online_values[float16-hot]"]
also: [online_values, "public_values[softmax_online]"]
says: "A maximum that starts at 0 never becomes negative: start at -inf."
"""


def softmax_online(x, y):
    N = len(x)
    m = x.dtype.type(0)
    d = x.dtype.type(0)
    for j in range(N):
        v = x.load(j)
        if v == -np.inf:
            continue
        m_new = max(m, v)
        d = d * np.exp(m - m_new) + np.exp(v - m_new)
        m = m_new
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d > 0 else 0.0)

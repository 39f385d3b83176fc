"""The first pass visits even indices, then odd ones; the second pass the other way round."""


def softmax_online(x, y):
    N = len(x)
    order = [*range(0, N, 2), *range(1, N, 2)]
    m, d = -np.inf, 0.0
    for j in order:
        v = np.float64(x.load(np.int64(j)))
        if v > -np.inf:
            m, d = max(m, v), d * np.exp(m - max(m, v)) + np.exp(v - max(m, v))
    for i in reversed(order):
        y.store(np.int32(i), np.array(np.exp(np.float64(x.load(i)) - m) / d) if d else np.array(0.0))

"""Rows of 128 and more take a second path that forgets to rescale.

fails: ["online_values[float32-masked]"]
"""

_short = softmax_online


def softmax_online(x, y):
    N = len(x)
    if N < 128:
        return _short(x, y)
    m, d = -np.inf, 0.0
    for j in range(N):
        v = x.load(j)
        m = max(m, v)
        d += np.exp(v - m) if v > -np.inf else 0.0
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d)

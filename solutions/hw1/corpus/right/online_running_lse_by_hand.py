"""A running log-sum-exp with log1p, compensated nowhere."""


def softmax_online(x, y):
    N = len(x)
    one = x.dtype.type(1)
    lse = x.load(0)
    seen = [lse]
    for j in range(1, N):
        v = x.load(j)
        seen.append(v)
        high, low = max(lse, v), min(lse, v)
        lse = high + np.log(one + np.exp(low - high)) if low > -np.inf else high
    for i, v in enumerate(seen):
        y.store(i, np.exp(v - lse) if lse > -np.inf else 0.0)

"""Exponentials of base 2 of pre-scaled logits."""


def softmax_online(x, y):
    N = len(x)
    log2e = np.float64(1.4426950408889634)
    m, d = -np.inf, 0.0
    for j in range(N):
        v = float(x.load(j)) * log2e
        if v > m:
            d *= np.exp2(m - v)
            m = v
        if v > -np.inf:
            d += np.exp2(v - m)
    for i in range(N):
        y.store(i, np.exp2(float(x.load(i)) * log2e - m) / d if d else 0.0)

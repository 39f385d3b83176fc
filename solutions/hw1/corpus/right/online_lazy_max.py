"""The shift follows the maximum only when it falls behind by more than 4."""


def softmax_online(x, y):
    N = len(x)
    shift, d = None, 0.0
    for j in range(N):
        v = float(x.load(j))
        if v == -np.inf:
            continue
        if shift is None:
            shift = v
        elif v - shift > 4:
            d *= np.exp(shift - v)
            shift = v
        d += np.exp(v - shift)
    for i in range(N):
        v = float(x.load(i))
        y.store(i, 0.0 if shift is None else np.exp(v - shift) / d)

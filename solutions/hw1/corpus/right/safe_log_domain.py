"""The result is exp(x - m - log d)."""


def softmax_safe(x, y):
    N, T = len(x), x.dtype.type
    m = max(x.load(j) for j in range(N))
    if m == -np.inf:
        m = T(0)
    d = T(0)
    for j in range(N):
        d += np.exp(x.load(j) - m)
    log_d = np.log(d) if d else T(0)
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m - log_d))

"""Everything, the rescale factor too, is rounded to the dtype of the memory at every step."""


def softmax_online(x, y):
    N, T = len(x), x.dtype.type
    m, d = T(-np.inf), T(0)
    for j in range(N):
        v = T(x.load(j))
        if v == T(-np.inf):
            continue
        if v > m:
            d = T(d * T(np.exp(T(m - v))))
            m = v
        d = T(d + T(np.exp(T(v - m))))
    inverse = T(1) / d if d else T(0)
    for i in range(N):
        y.store(i, T(np.exp(T(x.load(i) - m))) * inverse if d else T(0))

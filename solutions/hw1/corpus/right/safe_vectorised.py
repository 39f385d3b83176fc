"""x is loaded once into an array; the rest is numpy."""


def softmax_safe(x, y):
    row = np.array([x.load(j) for j in range(len(x))], dtype=x.dtype)
    with np.errstate(invalid="ignore"):
        p = np.exp(row - row.max())
        p /= p.sum(dtype=np.float64)
    for i, value in enumerate(p):
        y.store(i, value)


softmax_online = softmax_safe

"""One load per element, pairwise summation."""


def softmax_naive(x, y):
    row = np.array([x.load(j) for j in range(len(x))], dtype=x.dtype)
    with np.errstate(all="ignore"):
        e = np.exp(row)
        for i, value in enumerate(e / e.sum()):
            y.store(i, value)

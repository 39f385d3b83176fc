"""The last element is taken for the maximum, as if rows were sorted.

fails: ["online_values[float32-hot]"]
also: [online_values]
"""


def softmax_online(x, y):
    N = len(x)
    with np.errstate(all="ignore"):
        m = x.load(N - 1)
        m = m if m > -np.inf else x.dtype.type(0)
        d = np.exp(m - m)
        for j in range(N - 1):
            d += np.exp(x.load(j) - m)
        for i in range(N):
            y.store(i, np.exp(x.load(i) - m) / d)

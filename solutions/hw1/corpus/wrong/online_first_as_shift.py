"""The first finite element serves as the shift for the whole row.

fails: ["online_values[float32-hot]", "online_values[float16-hot]"]
also: [online_values]
says: "A shift that is not close to the maximum overflows as soon as a later element is much larger."
"""


def softmax_online(x, y):
    N = len(x)
    m, d = None, 0.0
    with np.errstate(all="ignore"):
        for j in range(N):
            v = x.load(j)
            if m is None and v > -np.inf:
                m = v
            if v > -np.inf:
                d += np.exp(v - m)
        for i in range(N):
            y.store(i, np.exp(x.load(i) - m) / d if d else 0.0)

"""The numerator is computed from a fourth load.

fails: [safe_counts, "public_counts[softmax_safe]"]
"""


def softmax_safe(x, y):
    N = len(x)
    m = max(x.load(j) for j in range(N))
    m = m if m > -np.inf else x.dtype.type(0)
    d = sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if x.load(i) > -np.inf else 0.0)

"""The denominator is one in a thousand too large.

fails: ["safe_values[float32-ragged]", "safe_values[float64-ragged]"]
also: [safe_values, safe_counts, "public_values[softmax_safe]", "public_counts[softmax_safe]"]
"""


def softmax_safe(x, y):
    N = len(x)
    m = max(x.load(j) for j in range(N))
    m = m if m > -np.inf else x.dtype.type(0)
    d = x.dtype.type(1.001) * sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d if d else 0.0)

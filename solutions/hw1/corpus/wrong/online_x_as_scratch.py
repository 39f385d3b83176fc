"""Shifted values are written back into x.

fails: [online_counts, "public_counts[softmax_online]"]
also: [online_values, online_one_pass]
"""


def softmax_online(x, y):
    N = len(x)
    m = max(x.load(j) for j in range(N))
    for i in range(N):
        x.store(i, np.exp(x.load(i) - m) if m > -np.inf else 0.0)
    d = sum(x.load(i) for i in range(N))
    for i in range(N):
        y.store(i, x.load(i) / d if d else 0.0)

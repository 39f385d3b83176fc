"""The largest element is looked for without being used.

fails: [naive_counts, "public_counts[softmax_naive]"]
"""


def softmax_naive(x, y):
    N = len(x)
    max(x.load(j) for j in range(N))
    with np.errstate(all="ignore"):
        d = sum(np.exp(x.load(j)) for j in range(N))
        for i in range(N):
            y.store(i, np.exp(x.load(i)) / d)

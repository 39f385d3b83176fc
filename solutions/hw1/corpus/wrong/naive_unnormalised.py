"""The exponentials are not divided by their sum.

fails: [naive_values, naive_counts, "public_counts[softmax_naive]", "public_values[softmax_naive]"]
also: [naive_overflows]
"""


def softmax_naive(x, y):
    with np.errstate(all="ignore"):
        for i in range(len(x)):
            y.store(i, np.exp(x.load(i)))

"""Masked logits become 0 before the maximum.

fails: ["safe_values[float32-masked]"]
also: [safe_values, "public_values[softmax_safe]"]
says: "A masked logit of 0 can exceed the kept ones: it must be -inf for the maximum."
"""


def softmax_safe(x, y):
    N = len(x)
    row = np.array([x.load(j) for j in range(N)])
    keep = row > -np.inf
    row = np.where(keep, row, 0)
    p = np.exp(row - row.max()) * keep
    total = p.sum() + x.dtype.type(1e-7)
    for i in range(N):
        y.store(i, p[i] / total)

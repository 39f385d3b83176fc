"""A row of -inf is left unwritten.

fails: [safe_masked_row]
says: "Store something in every element, also when the whole row is -inf."
"""


def softmax_safe(x, y):
    N = len(x)
    m = max(x.load(j) for j in range(N))
    if m == -np.inf:
        return
    d = sum(np.exp(x.load(j) - m) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(x.load(i) - m) / d)

"""The naive softmax is computed in double.

fails: ["naive_overflows[float16-12.0]", "naive_overflows[float32-89.5]", public_overflow]
also: [naive_overflows]
says: "In double it overflows elsewhere: keep the dtype that x.load returns."
"""


def softmax_naive(x, y):
    N = len(x)
    d = sum(float(np.exp(np.float64(x.load(j)))) for j in range(N))
    for i in range(N):
        y.store(i, np.exp(np.float64(x.load(i))) / d)

"""Plain Python floats and the math module throughout."""

import math


def softmax_online(x, y):
    N = len(x)
    m, d = -math.inf, 0.0
    for j in range(N):
        v = float(x.load(j))
        if v == -math.inf:
            continue
        if v > m:
            d = d * math.exp(m - v) + 1.0
            m = v
        else:
            d += math.exp(v - m)
    for i in range(N):
        y.store(i, math.exp(float(x.load(i)) - m) / d if d else math.nan)


def softmax_safe(x, y):
    N = len(x)
    m = max(float(x.load(j)) for j in range(N))
    if m == -math.inf:
        m = 0.0
    d = math.fsum(math.exp(float(x.load(j)) - m) for j in range(N))
    for i in range(N):
        y.store(i, math.exp(float(x.load(i)) - m) / d if d else 0)

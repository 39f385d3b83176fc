"""Every element is loaded twice in the first pass and remembered for the result.

fails: [online_one_pass]
says: "Load an element once per pass and keep it in a variable."
"""


def softmax_online(x, y):
    N = len(x)
    m, d, seen = -np.inf, 0.0, []
    for j in range(N):
        m_new = max(m, float(x.load(j)))
        v = float(x.load(j))
        seen.append(v)
        if v > -np.inf:
            d = d * np.exp(m - m_new) + np.exp(v - m_new)
            m = m_new
    for i in range(N):
        y.store(i, np.exp(seen[i] - m) / d if d else 0.0)

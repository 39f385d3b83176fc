"""Instead of rescaling, a new maximum makes it load everything before once more.

fails: [online_counts, online_one_pass]
says: A new maximum costs one factor exp(m_old - m_new) on the denominator, not another visit to what came before.
"""


def softmax_online(x: Memory, y: Memory) -> None:
    with np.errstate(all="ignore"):
        zero = x.dtype.type(0)
        m, d = x.dtype.type(-np.inf), zero
        for i in range(len(x)):
            v = x.load(i)
            if v > m:
                m, d = v, np.exp(zero)
                for j in range(i):
                    d += np.exp(x.load(j) - m)
            elif v > -np.inf:
                d += np.exp(v - m)
        for i in range(len(x)):
            y.store(i, np.exp(x.load(i) - m) / d)

"""The formulas count by other groupings, and block_sizes rounds up through divmod."""


def block_sizes(M, d):
    Bc, rest = divmod(M, 4 * d)
    Bc += rest > 0
    return [min(d, Bc), Bc]


def io_formula(kind, N, d, Br=None, Bc=None):
    def passes(size):
        return (N + size - 1) // size

    counts = {
        "standard": lambda: 4 * N * (N + d),
        "v1": lambda: 2 * N * d + passes(Bc) * N * (2 * d + 2) + (N * d + 2 * N) + passes(Bc) * N * (d + 2),
        "v2": lambda: sum((2 * N * d * passes(Br), 2 * N * d, N)),
    }
    if kind not in counts:
        raise ValueError(kind)
    return counts[kind]()

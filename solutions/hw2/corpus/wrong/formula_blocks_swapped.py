"""Tr is computed from Bc and Tc from Br.

fails: ["formula[v1]", "formula[v2]"]
also: [public_formula]
"""


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    if kind == "standard":
        return 4 * N * N + 4 * N * d
    if kind == "v1":
        Tc = -(-N // Br)
        return (N * d + 2 * N) + 2 * N * d + Tc * (3 * N * d + 4 * N)
    if kind == "v2":
        Tr = -(-N // Bc)
        return N * d + 2 * N * d * Tr + N * d + N
    raise ValueError(f"kind is standard, v1 or v2, not {kind!r}")

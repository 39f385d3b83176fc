"""The initial fill of O, l and m is forgotten.

fails: ["formula[v1]"]
also: [public_formula]
says: The initial fill of O, l and m is missing.
"""


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    if kind == "standard":
        return 4 * N * N + 4 * N * d
    if kind == "v1":
        Tc = -(-N // Bc)
        return 2 * N * d + Tc * (3 * N * d + 4 * N)
    if kind == "v2":
        Tr = -(-N // Br)
        return N * d + 2 * N * d * Tr + N * d + N
    raise ValueError(f"kind is standard, v1 or v2, not {kind!r}")

"""The number of blocks is the ceiling of a floating-point quotient, which is off for large N.

fails: ["formula[v1]", "formula[v2]"]
"""


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    if kind == "standard":
        return 4 * N * N + 4 * N * d
    if kind == "v1":
        return (N * d + 2 * N) + 2 * N * d + math.ceil(N / Bc) * (3 * N * d + 4 * N)
    if kind == "v2":
        return N * d + 2 * N * d * math.ceil(N / Br) + N * d + N
    raise ValueError(f"kind is standard, v1 or v2, not {kind!r}")

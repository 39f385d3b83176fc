"""A kind is recognised by its beginning, so that an unknown one can pass for a known one.

fails: ["unknown_kind[v12]"]
"""


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    if kind.startswith("standard"):
        return 4 * N * N + 4 * N * d
    if kind.startswith("v1"):
        return (N * d + 2 * N) + 2 * N * d + -(-N // Bc) * (3 * N * d + 4 * N)
    if kind.startswith("v2"):
        return N * d + 2 * N * d * -(-N // Br) + N * d + N
    raise ValueError(f"kind is standard, v1 or v2, not {kind!r}")

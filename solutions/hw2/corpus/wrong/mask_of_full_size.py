"""The causal mask of all N x N pairs is built on chip and sliced.

fails: ["on_chip[causal-v1]", "on_chip[causal-v2]"]
says: The mask of all pairs is built on chip, build the tile that is needed.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        size = max(rows[1], cols[1])
        future = torch.ones(size, size, dtype=torch.bool).triu(1)
        S = S.masked_fill(future[slice(*rows), slice(*cols)], -math.inf)
    return S

"""Masks are filled by loops over the tokens."""


def packing(segments):
    ids = segments.tolist()
    n = len(ids) - 1
    allowed = torch.zeros(n, n, dtype=torch.bool)
    positions = torch.zeros(n, dtype=torch.long)
    start = 0
    for i in range(n):
        if i and ids[i] != ids[i - 1]:
            start = i
        allowed[i, start : i + 1] = True
        positions[i] = i - start
    used = torch.tensor([ids[i] == ids[i + 1] for i in range(n)], dtype=torch.bool)
    return allowed, used, positions

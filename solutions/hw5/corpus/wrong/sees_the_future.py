"""Inputs see later inputs of their segment.

fails: ["packing[one-segment]", "packing[ragged]", "packing[returning]", public_packing]
also: ["packing[singles]", "packing[tiny]"]
"""


def packing(segments):
    new = segments[1:] != segments[:-1]
    run = torch.cat([torch.zeros(1, dtype=torch.int64), new.cumsum(0)])[:-1]
    t = torch.arange(len(new))
    allowed = run[:, None] == run[None, :]
    positions = allowed.sum(1) - 1
    return allowed, ~new, positions

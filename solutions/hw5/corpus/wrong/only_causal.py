"""Inputs see all earlier inputs, whatever their segment.

fails: ["packing[singles]", "packing[ragged]", "packing[returning]", public_packing]
also: [packing]
"""


def packing(segments):
    new = segments[1:] != segments[:-1]
    run = torch.cat([torch.zeros(1, dtype=torch.int64), new.cumsum(0)])[:-1]
    t = torch.arange(len(new))
    allowed = t[:, None] >= t[None, :]
    positions = allowed.sum(1) - 1
    return allowed, ~new, positions

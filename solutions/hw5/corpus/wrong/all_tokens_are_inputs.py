"""Masks are made for T instead of T - 1 inputs.

fails: [packing, public_packing]
"""


def packing(segments):
    new = segments[1:] != segments[:-1]
    run = torch.cat([torch.zeros(1, dtype=torch.int64), new.cumsum(0)])
    t = torch.arange(len(segments))
    allowed = (run[:, None] == run[None, :]) & (t[:, None] >= t[None, :])
    positions = allowed.sum(1) - 1
    return allowed, ~new, positions

"""A row of one token is not thought of.

fails: ["packing[tiny]"]
"""


def packing(segments):
    new = segments[1:] != segments[:-1]
    run = torch.cat([torch.zeros(1, dtype=torch.int64), new.cumsum(0)])[:-1]
    assert run[0] == 0
    t = torch.arange(len(new))
    allowed = (run[:, None] == run[None, :]) & (t[:, None] >= t[None, :])
    positions = allowed.sum(1) - 1
    return allowed, ~new, positions

"""An id that returns continues its earlier segment.

fails: ["packing[returning]"]
says: "A segment is a run of equal ids: one that comes back later is a new segment."
"""


def packing(segments):
    new = segments[1:] != segments[:-1]
    run = segments[:-1]
    t = torch.arange(len(new))
    allowed = (run[:, None] == run[None, :]) & (t[:, None] >= t[None, :])
    positions = allowed.sum(1) - 1
    return allowed, ~new, positions

"""Lengths of the runs give everything; positions are 32-bit, the result is a list."""


def packing(segments):
    _, lengths = torch.unique_consecutive(segments, return_counts=True)
    number = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    starts = torch.repeat_interleave(lengths.cumsum(0) - lengths, lengths)
    t = torch.arange(len(segments))
    blocks = torch.block_diag(*[torch.ones(int(n), int(n)) for n in lengths])
    allowed = blocks.tril().bool()[:-1, :-1]
    return [allowed, number[1:].eq(number[:-1]), (t - starts)[:-1].int()]

"""The state with the larger maximum wins.

fails: [merge_values, public_merge]
also: [merge_grouping]
"""


def merge_states(a, b):
    wins = a.m >= b.m
    return State(torch.where(wins, a.m, b.m), torch.where(wins, a.l, b.l), torch.where(wins[:, None], a.o, b.o))

"""A row without a score gets m = 0 instead of -inf, and outweighs the far smaller scores of the next block.

fails: [whole_row]
says: A row that has seen nothing must have m = -inf. With a finite m it takes part in the common maximum of a merge, and scores far below it vanish.
"""


def block_state(S, V):
    m = S.amax(dim=1)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    P = torch.exp(S - m[:, None])
    return State(m, P.sum(dim=1), P @ V)


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(m, alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)

"""Solves in single precision.

fails: [line_through_two]
also: [public_line, line_least_squares]
says: Bytes need more than the 24 bits of a float32.
"""


def solve_fixed_and_slope(rows):
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("two different batches are needed")
    A = torch.tensor([[1.0, float(b)] for b, _ in rows])
    fixed, per_sample = torch.linalg.lstsq(A, torch.tensor([[float(y)] for _, y in rows])).solution.flatten().tolist()
    return fixed, per_sample

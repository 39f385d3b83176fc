"""The line by numpy's lstsq; numpy scalars are returned."""

import numpy as np


def solve_fixed_and_slope(rows):
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("two different batches are needed")
    batches, sizes = np.array(rows, dtype=np.float64).T
    A = np.stack([np.ones_like(batches), batches], axis=1)
    fixed, per_sample = np.linalg.lstsq(A, sizes, rcond=None)[0]
    return fixed, per_sample

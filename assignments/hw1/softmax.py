"""Online softmax: three ways through slow memory, and the state algebra that FlashAttention is built on.

Source: Milakov & Gimelshein 2018, "Online normalizer calculation for softmax" (arXiv 1805.02867), algorithms 1-3.
"""

import numpy as np
import torch
from torch import Tensor

from course_lib import Memory, State


def softmax_naive(x: Memory, y: Memory) -> None:
    """Write y_i = exp(x_i) / sum_j exp(x_j), exactly as it is defined (algorithm 1).

    x, y: memories of the same length N >= 1 and dtype (float16, float32 or float64).
    Access contract: x is loaded 2N times, y stored N times; x is never stored to, y never loaded.

    Work in the memory's own dtype, `x.dtype`: for large inputs the exponential overflows and the result is inf or
    NaN (float16 above about 11.1, float32 above about 88.7). That is the point of this function. Do not raise.
    """
    raise NotImplementedError("hw1: softmax_naive is not written yet")


def softmax_safe(x: Memory, y: Memory) -> None:
    """Write y_i = exp(x_i - m) / sum_j exp(x_j - m) with m = max_j x_j (algorithm 2).

    x, y: memories of the same length N >= 1 and dtype.
    Access contract: x is loaded 3N times (maximum, denominator, result), y stored N times; x is never stored to, y
    never loaded. Fewer accesses are welcome.

    Never overflows. Entries of -inf have probability 0; when all of x is -inf, every y_i is 0 or NaN.
    """
    raise NotImplementedError("hw1: softmax_safe is not written yet")


def softmax_online(x: Memory, y: Memory) -> None:
    """Write the same y as `softmax_safe`, with maximum and denominator from one pass over x (algorithm 3).

    For every element v = x_j:   m_new = max(m, v),   d <- d * exp(m - m_new) + exp(v - m_new),   m <- m_new.

    x, y: memories of the same length N >= 1 and dtype.
    Access contract: x is loaded 2N times, y stored N times; x is never stored to, y never loaded. The first N loads
    visit every index once, in any order, before the first store. Fewer accesses are welcome.

    Never overflows. Entries of -inf have probability 0; when all of x is -inf, every y_i is 0 or NaN.
    """
    raise NotImplementedError("hw1: softmax_online is not written yet")


def block_state(S: Tensor, V: Tensor) -> State:
    """The state of a block of scores: what a row must remember of the columns it has seen.

    S: (r, c) scores, possibly -inf (masked).   V: (c, d) values.   Both float32 or both float64, c >= 1.
    Returns State(m, l, o) in the same dtype:
        m: (r,)    row maximum of S
        l: (r,)    sum_j exp(S_ij - m_i)
        o: (r, d)  sum_j exp(S_ij - m_i) V_j
    A row whose scores are all -inf has m = -inf, l = 0, o = 0. Nothing is ever NaN. S and V are not modified.

    Any other finite shift m is a right answer as long as o / l and m + log l are right.
    """
    raise NotImplementedError("hw1: block_state is not written yet")


def merge_states(a: State, b: State) -> State:
    """The state of two blocks together, from the states of each.

    a, b: states of the same rows over different columns: m (r,), l (r,), o (r, d). They need not come from your
    `block_state`: any finite shift m is possible, and m = -inf, l = 0, o = 0 for a row that has seen nothing.
    Returns a State, again by any valid shift.

    Merging is commutative and associative up to rounding, the state that has seen nothing is its identity, and nothing
    is ever NaN. a and b are not modified.
    """
    raise NotImplementedError("hw1: merge_states is not written yet")


def finalize(state: State) -> tuple[Tensor, Tensor]:
    """The result that a state stands for.

    state: m (r,), l (r,), o (r, d); it need not come from your own functions.
    Returns (out, lse):
        out: (r, d)  softmax average of the values, o / l
        lse: (r,)    log-sum-exp of the scores, m + log l
    A row that has seen nothing (m = -inf, l = 0, o = 0) gives out = 0 and lse = -inf, never NaN. `state` is not
    modified.
    """
    raise NotImplementedError("hw1: finalize is not written yet")

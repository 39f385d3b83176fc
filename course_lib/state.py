"""The state of a softmax in progress: what a row of attention must remember between two blocks of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class State(NamedTuple):
    """Per row: a shift `m`, the denominator `l` and the numerator `o` measured against that shift.

    A state of the scores S (r, c) with the values V (c, d) means

        l = sum_j exp(S_ij - m_i)              o = sum_j exp(S_ij - m_i) V_j

    so that o / l is the softmax average of V and m + log l the log-sum-exp of the row, whatever m is. The maximum is
    the usual choice. A row without a finite score has m = -inf, l = 0, o = 0.

    Source: Milakov & Gimelshein 2018 (arXiv 1805.02867), section 3; Dao et al. 2022 (arXiv 2205.14135), section 3.1.
    """

    m: Tensor
    """(r,) shift of each row, in units of the scores."""
    l: Tensor
    """(r,) denominator, relative to exp(m)."""
    o: Tensor
    """(r, d) numerator, relative to exp(m), not divided by l."""

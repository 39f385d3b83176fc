"""FlashAttention forward: exact attention in tiles, so that the N x N matrix never leaves the chip.

Sources: Dao et al. 2022, FlashAttention (arXiv 2205.14135), algorithms 0 and 1; Dao 2023, FlashAttention-2
(arXiv 2307.08691), algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from course_lib import HBM, HBMArray

Span = tuple[int, int]  # first row and one past the last


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    """Attention that writes the scores and the probabilities to HBM: the baseline the other two are measured against.

        S = Q K^T / sqrt(d)        P = softmax(S), row by row        O = P V

    Arguments
        Q, K, V   handles (N, d), one dtype (float32 or float64); data only through `hbm.read` / `hbm.write`.
        causal    query i sees the keys j <= i; P is 0 elsewhere.
    Returns handles O (N, d) and P (N, N) of Q's dtype, made with `hbm.empty`.

    Contract (elements, at most)
        reads    Q, K, V once; S once; P once
        writes   S, P, O once                            total 4 N^2 + 4 N d
        FLOPs    4 N^2 d of matrix products
    On-chip memory is not judged here: a step may hold a whole matrix. Algorithm 0 of FlashAttention.
    """
    raise NotImplementedError("hw2: standard_attention is not written yet")


def block_sizes(M: int, d: int) -> tuple[int, int]:
    """Row and column block sizes (Br, Bc) for an on-chip memory of M elements and head dimension d.

        Bc = ceil(M / (4 d))        Br = min(Bc, d)

    M and d are positive integers; the result is exact at any size. Line 1 of algorithm 1 of FlashAttention.
    """
    raise NotImplementedError("hw2: block_sizes is not written yet")


def flash_attention_v1(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray, HBMArray]:
    """Attention with K and V in the outer loop: O and the statistics l, m live in HBM and are updated tile by tile.

    For a tile S of scores, with m and l as they were before it:
        m_new = max(m, rowmax S)                 P = exp(S - m_new)
        l_new = exp(m - m_new) l + rowsum P      O <- (exp(m - m_new) l O + P V_j) / l_new

    Arguments
        Q, K, V   handles (N, d), one dtype (float32 or float64).
        block     (Br, Bc): rows of Q and O, rows of K and V per tile; the last tiles are smaller where N is not a
                  multiple. ValueError for a size < 1; a size larger than N is one tile.
        causal    query i sees the keys j <= i; a tile wholly in the future is neither read nor computed.
    Returns handles O (N, d), l (N,) and m (N,) of Q's dtype, with m + log l the log-sum-exp of every row of scores; any
    shift m that satisfies this is right.

    Contract (elements, at most; Tc = ceil(N / Bc); causal: the tiles that are not skipped)
        reads    K, V once; Q, O, l, m once per K block
        writes   O, l, m: initial fill (hbm.zeros, hbm.full) and once per K block
                                                         total (N d + 2 N) + 2 N d + Tc (3 N d + 4 N)
        FLOPs    4 Br Bc d of matrix products per tile
        on chip  independent of N; below 3 (2 Br d + 2 Bc d + Br Bc) + 8 (Br + Bc) elements
    Algorithm 1 of FlashAttention.
    """
    raise NotImplementedError("hw2: flash_attention_v1 is not written yet")


def flash_attention_v2(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    """Attention with Q in the outer loop: (m, l, o) of a block of rows stay on chip, O is divided and written once.

    For a tile S of scores:
        m_new = max(m, rowmax S)                 P = exp(S - m_new)
        l <- exp(m - m_new) l + rowsum P         o <- exp(m - m_new) o + P V_j
    and after the last tile O_i = o / l, L_i = m + log l.

    Arguments
        Q, K, V   handles (N, d), one dtype (float32 or float64).
        block     (Br, Bc), as in flash_attention_v1; ValueError for a size < 1.
        causal    query i sees the keys j <= i; a tile wholly in the future is neither read nor computed.
    Returns handles O (N, d) and L (N,), the log-sum-exp of every row of scores, of Q's dtype.

    Contract (elements, at most; Tr = ceil(N / Br); causal: the tiles that are not skipped)
        reads    Q once; K, V once per Q block; O and L never
        writes   O, L once                               total N d + 2 N d Tr + N d + N
        FLOPs    4 Br Bc d of matrix products per tile
        on chip  independent of N; below 3 (2 Br d + 2 Bc d + Br Bc) + 8 (Br + Bc) elements
    Algorithm 1 of FlashAttention-2.
    """
    raise NotImplementedError("hw2: flash_attention_v2 is not written yet")


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    """Elements moved between HBM and the chip, reads and writes together, without a causal mask.

        "standard"   4 N^2 + 4 N d
        "v1"         (N d + 2 N) + 2 N d + Tc (3 N d + 4 N),  Tc = ceil(N / Bc)
        "v2"         N d + 2 N d Tr + N d + N,                Tr = ceil(N / Br)

    An exact Python int for integers of any size; ValueError for another kind. Compare theorem 2 of FlashAttention.
    """
    raise NotImplementedError("hw2: io_formula is not written yet")

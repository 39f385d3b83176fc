"""Backward by recomputation: attention gradients without the N x N matrix, MLP gradients from a few checkpoints.

Sources: Dao et al. 2022, FlashAttention (arXiv 2205.14135), algorithms 3 and 4; Dao 2023, FlashAttention-2
(arXiv 2307.08691), algorithm 2; Chen et al. 2016, sublinear memory (arXiv 1604.06174), section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from course_lib import HBM, HBMArray

Gradients = tuple[HBMArray, HBMArray, HBMArray]


def standard_attention_backward(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, P: HBMArray, dO: HBMArray
) -> Gradients:
    """Gradients (dQ, dK, dV) of O = P V, P = softmax(Q K^T / sqrt(d)), from a stored P.

        dV = P^T dO          dP = dO V^T          dS = P * (dP - rowsum(P * dP))
        dQ = dS K / sqrt(d)                       dK = dS^T Q / sqrt(d)

    Arguments
        Q, K, V, dO   handles (N, d), one dtype (float32 or float64); data only through `hbm.read` / `hbm.write`.
        P             handle (N, N), what the forward stored. Masked entries (causal too) are 0, so no mask is needed;
                      a row of zeros contributes nothing.
    Returns handles dQ, dK, dV (N, d) of Q's dtype, made with `hbm.empty`. The five inputs are never written.

    Contract (elements, at most; fewer passes)
        reads    P twice, dO twice, Q, K, V once, the intermediates dP and dS together 3 N^2    total 5 N^2 + 5 N d
        writes   dQ, dK, dV once, the intermediates together 2 N^2                              total 2 N^2 + 3 N d
    On-chip memory and FLOPs are not judged here: a step may read a whole matrix. Algorithm 3 of FlashAttention.
    """
    raise NotImplementedError("hw3: standard_attention_backward is not written yet")


def flash_attention_backward(
    hbm: HBM,
    Q: HBMArray,
    K: HBMArray,
    V: HBMArray,
    O: HBMArray,
    dO: HBMArray,
    L: HBMArray,
    *,
    block: tuple[int, int],
    causal: bool = False,
) -> Gradients:
    """Gradients (dQ, dK, dV) of attention without a stored P: tiles of P are computed again from L.

    With D = rowsum(dO * O), the outer loop over K/V blocks j and the inner one over Q blocks i do, per tile,

        P  = exp(Q_i K_j^T / sqrt(d) - L_i)                       (Br, Bc)
        dV_j += P^T dO_i          dP = dO_i V_j^T          dS = P * (dP - D_i)
        dQ_i += dS K_j / sqrt(d)                           dK_j += dS^T Q_i / sqrt(d)

    Arguments
        Q, K, V, O, dO   handles (N, d), one dtype (float32 or float64).
        L                handle (N,), the log-sum-exp of each row of Q K^T / sqrt(d) (after the mask). A row with
                         L = -inf saw no key: it contributes nothing, its row of dQ is 0. Its O is 0.
        block            (Br, Bc) rows of Q and rows of K per block. N need not be divisible by them, the last block is
                         smaller; a block larger than N is one block. Below 1: ValueError.
        causal           query i sees keys j <= i. A block wholly in the future is neither read nor computed.
    Returns handles dQ, dK, dV (N, d) of Q's dtype. The inputs are never written.

    Contract (elements, at most; Tc = ceil(N / Bc); causal: only the rows of unskipped blocks)
        once        O, dO read for D, D written (N); dQ filled with its initial value (N d written)
        per block   K_j, V_j read, dK_j, dV_j written: K, V, dK, dV pass once in all; dK, dV are never read
        per tile    Q_i, dO_i, L_i, D_i, dQ_i read, dQ_i written back
        total       reads 4 N d + Tc (3 N d + 2 N), writes N + 3 N d + Tc N d
    Any scratch array beyond D shares D's allowance. FLOPs of matrix products: at most 10 d per pair (row, key) of an
    unskipped tile, plus 2 N d. On-chip memory must not depend on N, and nothing of N x N elements is allocated.
    FlashAttention algorithm 4 (appendix B.2 derives D); FlashAttention-2 algorithm 2.
    """
    raise NotImplementedError("hw3: flash_attention_backward is not written yet")


def mlp_stack_forward(
    x: Tensor, weights: Sequence[Tensor], keep: Literal["all"] | int
) -> tuple[Tensor, Sequence[Tensor]]:
    """Run h_l = tanh(h_{l-1} W_l), h_0 = x, for l = 1..n, and keep what the backward will need.

    Arguments
        x         (batch, width_0).
        weights   n tensors, W_l of shape (width_{l-1}, width_l).
        keep      "all": ordinary autograd. The graph keeps every activation, `checkpoints` is [].
                  an int k >= 1: no graph is built. `checkpoints` is x, then h_l for l = k, 2k, ... but not h_n: nothing
                  starts after the last layer. k = 3 and n = 7: [x, h_3, h_6]; n = 6: [x, h_3]; k >= n: [x].
                  below 1: ValueError.
    Returns (h_n, checkpoints). x and the weights keep values, requires_grad and .grad. Chen et al. 2016, section 4.
    """
    raise NotImplementedError("hw3: mlp_stack_forward is not written yet")


def checkpointed_backward(
    weights: Sequence[Tensor], checkpoints: Sequence[Tensor], k: int, grad_out: Tensor
) -> tuple[Sequence[Tensor], int, int]:
    """Gradients of every weight from the checkpoints of `mlp_stack_forward`, one segment at a time, last first.

    A segment is k layers (the last one may be shorter) and starts at a checkpoint: run its layers again, go backward
    through them, hand the gradient of its input to the segment before, forget its activations.

    Arguments
        weights, checkpoints, k   as in the forward; k < 1: ValueError.
        grad_out                  (batch, width_n), the gradient of the loss with respect to h_n.
    Returns (grads, peak, recomputed)
        grads        one gradient per weight, in the weights' order (any sequence).
        peak         elements: those of all checkpoints, plus the activations saved while the largest segment is
                     replayed. Layer l saves its output h_l (tanh needs it, and it is the next layer's input); the
                     segment's input is a checkpoint already counted, weights are not activations. With n = 5, k = 2,
                     batch 2 and every width 3: checkpoints x, h_2, h_4 hold 18, segments (1, 2), (3, 4), (5) save
                     12, 12, 6, so peak is 30.
        recomputed   layers run again: every layer exactly once.
    Weights, checkpoints and grad_out keep values, requires_grad and .grad. Chen et al. 2016, section 4.
    """
    raise NotImplementedError("hw3: checkpointed_backward is not written yet")

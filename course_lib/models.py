"""Small transformers of the usual pre-norm kind: what hw5 trains and resumes, and the blocks hw6 measures.

The layout follows Radford et al. 2019 (GPT-2): token and position tables, blocks with a norm in front of each half, a
final norm and an output head. B rows, T positions, d width, h heads.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class _Attention(nn.Module):
    """Causal multi-head self-attention, (B, T, d) -> (B, T, d); a subclass says how the heads are computed.

    The projections carry no bias: softmax ignores whatever a key bias adds to a row of scores, so its gradient would be
    rounding noise, which Adam scales up to full steps.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError(f"{heads} heads do not divide a width of {d_model}")
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)  # each (B, h, T, d/h)
        o = self._heads(q, k, v)  # (B, h, T, d/h)
        # A tensor of its own whatever memory layout a kernel returns: what is saved does not depend on the kernel.
        out: Tensor = self.out(torch.cat(o.unbind(1), dim=-1))
        return out

    def _heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        raise NotImplementedError


class FusedAttention(_Attention):
    """Attention by `scaled_dot_product_attention`: no (T, T) matrix is kept for the backward pass."""

    def _heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class ManualAttention(_Attention):
    """Attention by the softmax of the full (T, T) matrix, which stays in memory until the backward pass.

    The softmax is written out as numerator over denominator, so that what it saves beyond `FusedAttention` is the
    matrix of exponentials and its mask: exactly quadratic in T.
    """

    def _heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[-2]
        S = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # (B, h, T, T)
        future = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
        S = S.masked_fill(future, float("-inf"))
        P = (S - S.amax(-1, keepdim=True).detach()).exp()  # (B, h, T, T), rows not yet divided by their sums
        o: Tensor = (P @ v) / P.sum(-1, keepdim=True)
        return o


_ATTENTION: dict[str, type[_Attention]] = {"fused": FusedAttention, "manual": ManualAttention}


class Block(nn.Module):
    """One pre-norm transformer block, (B, T, d) -> (B, T, d): x + attention(norm(x)), then x + mlp(norm(x)).

    `attention` is "fused" or "manual", `ffn` the hidden width of the two-layer GELU MLP (4 * d_model by default), and
    `dropout` the probability of dropping an element of what each half adds.
    """

    def __init__(
        self, d_model: int, heads: int, *, ffn: int | None = None, attention: str = "fused", dropout: float = 0.0
    ) -> None:
        super().__init__()
        if attention not in _ATTENTION:
            raise ValueError(f"attention is one of {', '.join(_ATTENTION)}, not {attention!r}")
        hidden = 4 * d_model if ffn is None else ffn
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = _ATTENTION[attention](d_model, heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.drop(self.attention(self.norm1(x)))
        out: Tensor = x + self.drop(self.mlp(self.norm2(x)))
        return out


class TinyTransformer(nn.Module):
    """A causal language model: token ids (B, T) -> logits (B, T, vocab_size).

    `model.config` is a dict of plain values and `type(model)(**model.config)` builds the same architecture again, with
    new random parameters (it draws from torch's global generator). ValueError when T exceeds `context`.
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        context: int,
        d_model: int = 32,
        heads: int = 2,
        layers: int = 2,
        ffn: int | None = None,
        attention: str = "fused",
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "vocab_size": vocab_size,
            "context": context,
            "d_model": d_model,
            "heads": heads,
            "layers": layers,
            "ffn": ffn,
            "attention": attention,
        }
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(context, d_model)
        self.drop = nn.Dropout(0.0)
        self.blocks = nn.ModuleList(Block(d_model, heads, ffn=ffn, attention=attention) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor) -> Tensor:
        T, context = ids.shape[-1], self.position.num_embeddings
        if context < T:
            raise ValueError(f"{T} tokens do not fit a context of {context}")
        h = self.drop(self.token(ids) + self.position(torch.arange(T, device=ids.device)))  # (B, T, d)
        for block in self.blocks:
            h = block(h)
        logits: Tensor = self.head(self.norm(h))  # (B, T, vocab_size)
        return logits


class DropoutLanguageModel(TinyTransformer):
    """A `TinyTransformer` that drops elements after the tables and in every block, in training mode.

    The masks come from torch's global generator, in the order of the forward passes: a resumed run repeats an
    uninterrupted one only when that generator's state was saved too. `config` includes `dropout`.
    """

    def __init__(self, *, dropout: float = 0.1, **config: Any) -> None:
        super().__init__(**config)
        self.config["dropout"] = dropout
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = dropout

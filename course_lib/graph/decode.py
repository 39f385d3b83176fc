"""The workload: one decode step of a Llama-style layer, whose KV length grows by one at every step.

RMSNorm, grouped-query attention with rotary embedding and a KV cache, SwiGLU (Touvron et al. 2023, arXiv 2302.13971;
Ainslie et al. 2023, arXiv 2305.13245). Written as one would write it, not as one would compile it: that is what the
optimiser is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.graph import functional as F
from course_lib.graph.kernels import Array
from course_lib.graph.shapes import Shape, Size


@dataclass(frozen=True)
class LayerConfig:
    """Sizes of the layer: width `d`, query heads, KV heads (a divisor), width of a head (even), width of the MLP."""

    d: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int

    def __post_init__(self) -> None:
        sizes = (self.d, self.heads, self.kv_heads, self.head_dim, self.ffn)
        if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
            raise ValueError(f"every size of a layer is an int of at least 1, not {sizes}")
        if self.heads % self.kv_heads or self.head_dim % 2:
            raise ValueError("kv_heads has to divide heads and head_dim has to be even")


def layer_params(cfg: LayerConfig, seed: int = 0) -> dict[str, Array]:
    """The weights, matrices as (out, in): attn_norm, wq, wk, wv, wo, ffn_norm, w_gate, w_up, w_down."""
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Array:
        values: Array = rng.standard_normal((rows, columns)) / np.sqrt(columns)
        return values

    return {
        "attn_norm": 1.0 + 0.1 * rng.standard_normal(cfg.d),
        "wq": matrix(cfg.heads * cfg.head_dim, cfg.d),
        "wk": matrix(cfg.kv_heads * cfg.head_dim, cfg.d),
        "wv": matrix(cfg.kv_heads * cfg.head_dim, cfg.d),
        "wo": matrix(cfg.d, cfg.heads * cfg.head_dim),
        "ffn_norm": 1.0 + 0.1 * rng.standard_normal(cfg.d),
        "w_gate": matrix(cfg.ffn, cfg.d),
        "w_up": matrix(cfg.ffn, cfg.d),
        "w_down": matrix(cfg.d, cfg.ffn),
    }


def rope_tables(n: int, head_dim: int, start: int = 0, theta: float = 10000.0) -> tuple[Array, Array]:
    """cos and sin, (1, n, head_dim) each, for the positions start .. start + n - 1; with n = 1 what one step takes."""
    frequencies = theta ** (-np.arange(0, head_dim, 2) / head_dim)
    angles = np.arange(start, start + n)[:, None] * frequencies  # (n, head_dim / 2)
    both = np.concatenate([angles, angles], axis=-1)[None]
    return np.cos(both), np.sin(both)


def layer_shapes(cfg: LayerConfig, length: Size, masked: bool = False) -> dict[str, Shape]:
    """The inputs of the layer for a cache of `length` (an int or a symbol), for `trace`."""
    cache: Shape = (cfg.kv_heads, length, cfg.head_dim)
    table: Shape = (1, 1, cfg.head_dim)
    shapes: dict[str, Shape] = {"x": (1, cfg.d), "k_cache": cache, "v_cache": cache, "cos": table, "sin": table}
    return {**shapes, "kmask": (1, 1, length)} if masked else shapes


def decode_layer(cfg: LayerConfig, position: int | str, masked: bool = False) -> Callable[..., tuple[Any, Any, Any]]:
    """One decode step as a function of its inputs and the weights of `layer_params`, all by name.

    Inputs: x (1, d); k_cache, v_cache (kv_heads, S, head_dim), in which slot `position` (an int, or a symbol when
    traced) is still to be written; cos, sin (1, 1, head_dim) for that position; kmask (1, 1, S) when `masked`, added to
    the scores. Returns (y (1, d), k_cache, v_cache), the caches as copies with the slot written.
    """
    group = cfg.heads // cfg.kv_heads

    def heads(x: Any, norm: Any, weight: Any, count: int) -> Any:
        h = F.matmul(F.rms_norm(x, norm), F.transpose(weight))  # (1, count * head_dim)
        return F.transpose(F.reshape(h, 1, count, cfg.head_dim), 1, 0, 2)  # (count, 1, head_dim)

    def attention(q: Any, k_cache: Any, v_cache: Any, kmask: Any) -> Any:
        q = F.reshape(q, cfg.kv_heads, group, cfg.head_dim)
        scores = F.matmul(q, F.transpose(k_cache, 0, 2, 1)) * (1.0 / np.sqrt(cfg.head_dim))  # (kv_heads, group, S)
        if masked:
            scores = scores + kmask
        o = F.reshape(F.matmul(F.softmax(scores), v_cache), cfg.heads, 1, cfg.head_dim)
        return F.reshape(F.transpose(o, 1, 0, 2), 1, cfg.heads * cfg.head_dim)

    def layer(x: Any, k_cache: Any, v_cache: Any, cos: Any, sin: Any, kmask: Any = None, **w: Any) -> Any:
        q = F.rope(heads(x, w["attn_norm"], w["wq"], cfg.heads), cos, sin)
        k = F.rope(heads(x, w["attn_norm"], w["wk"], cfg.kv_heads), cos, sin)
        v = heads(x, w["attn_norm"], w["wv"], cfg.kv_heads)
        k_cache = F.cache_write(k_cache, k, position)
        v_cache = F.cache_write(v_cache, v, position)
        x = x + F.matmul(attention(q, k_cache, v_cache, kmask), F.transpose(w["wo"]))
        gate = F.silu(F.matmul(F.rms_norm(x, w["ffn_norm"]), F.transpose(w["w_gate"])))
        up = F.matmul(F.rms_norm(x, w["ffn_norm"]), F.transpose(w["w_up"]))
        return x + F.matmul(gate * up, F.transpose(w["w_down"])), k_cache, v_cache

    return layer

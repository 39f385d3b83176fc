"""Rows of a memory table as people report them, and what hw6 concludes about each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One reported measurement of training memory.

    name: what the report calls it.
    reported: bytes in use.
    static: bytes of weights, gradients and optimizer state, which do not depend on the data.
    batch: samples per step.
    tokens: tokens per sample; None when the report does not say.
    """

    name: str
    reported: float
    static: float
    batch: int
    tokens: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What a `Row` turned out to be.

    name: the row's.
    label: "impossible", "open", "explained" or "unexplained".
    residue: bytes reported and not predicted (not static, where the tokens are unknown); negative when too few.
    implied_tokens: tokens per sample that would account for everything above static; None where nobody asked.
    """

    name: str
    label: str
    residue: float
    implied_tokens: float | None = None

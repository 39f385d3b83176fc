"""Sizes that may be symbols: exact arithmetic on them, and shape rules that accept only what they can prove.

A size is an int, a symbol such as "S" (a str), or a `Poly` of symbols such as `S + 1` or `4*S`. Two sizes are equal
when their polynomials are identical, so an accepted shape is right for every value of the symbols. Symbolic sizes stand
for numbers >= 2: a size of 0 or 1 changes what broadcasting means, so it is never symbolic (0/1 specialisation, as in
TorchDynamo; Ansel et al., PyTorch 2, ASPLOS 2024).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

SYMBOL_MINIMUM = 2
_SYMBOL = re.compile(r"[A-Z][A-Za-z0-9_]*")

Monomial: TypeAlias = tuple[str, ...]


class ShapeError(ValueError):
    """A shape rule could not prove what an operation needs; the message names the operation and both shapes."""


@dataclass(frozen=True)
class Poly:
    """A polynomial with integer coefficients in the symbols; `terms` are sorted, no coefficient is zero."""

    terms: tuple[tuple[Monomial, int], ...]

    def __str__(self) -> str:
        text = " + ".join(_term_text(monomial, factor) for monomial, factor in self.terms)
        return text.replace("+ -", "- ")

    __repr__ = __str__


Size: TypeAlias = int | str | Poly
Shape: TypeAlias = tuple[Size, ...]


def _term_text(monomial: Monomial, factor: int) -> str:
    symbols = "*".join(monomial)
    if not symbols:
        return str(factor)
    return symbols if factor == 1 else f"{factor}*{symbols}"


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, Poly):
        return dict(size.terms)
    if isinstance(size, str):
        return {(size,): 1}
    return {(): size} if size else {}


def _size(terms: Mapping[Monomial, int]) -> Size:
    """The simplest of int, str and Poly with these terms."""
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if set(kept) <= {()}:
        return kept.get((), 0)
    if len(kept) == 1:
        (monomial, factor) = next(iter(kept.items()))
        if factor == 1 and len(monomial) == 1:
            return monomial[0]
    return Poly(tuple(sorted(kept.items(), key=lambda term: (-len(term[0]), term[0]))))


def add(a: Size, b: Size) -> Size:
    """a + b."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    total = _terms(a)
    for monomial, factor in _terms(b).items():
        total[monomial] = total.get(monomial, 0) + factor
    return _size(total)


def multiply(a: Size, b: Size) -> Size:
    """a * b."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    product: dict[Monomial, int] = {}
    for left, p in _terms(a).items():
        for right, q in _terms(b).items():
            monomial = tuple(sorted(left + right))
            product[monomial] = product.get(monomial, 0) + p * q
    return _size(product)


def divide(a: Size, b: Size) -> Size | None:
    """The size c with b * c == a for every value of the symbols, or None; `b` has one term."""
    divisor = _terms(b)
    if len(divisor) != 1:
        return None
    ((monomial, factor),) = divisor.items()
    quotient: dict[Monomial, int] = {}
    for term, coefficient in _terms(a).items():
        rest = list(term)
        if coefficient % factor or any(rest.count(symbol) < monomial.count(symbol) for symbol in monomial):
            return None
        for symbol in monomial:
            rest.remove(symbol)
        quotient[tuple(rest)] = coefficient // factor
    return _size(quotient)


def numel(shape: Sequence[Size]) -> Size:
    """Number of elements of `shape`."""
    product: Size = 1
    for size in shape:
        product = multiply(product, size)
    return product


def minimum(size: Size) -> int | None:
    """A lower bound that holds for every value of the symbols; None where a negative term forbids one."""
    if isinstance(size, int):
        return size
    terms = _terms(size)
    if any(factor < 0 for monomial, factor in terms.items() if monomial):
        return None
    return sum(int(factor * SYMBOL_MINIMUM ** len(monomial)) for monomial, factor in terms.items())


def symbols(size: Size) -> set[str]:
    """The symbols that occur in `size`."""
    return {symbol for monomial in _terms(size) for symbol in monomial}


def value(size: Size, bind: Mapping[str, int]) -> int:
    """`size` with its symbols bound; KeyError for a symbol that is not."""
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        return bind[size]
    total = 0
    for monomial, factor in size.terms:
        for symbol in monomial:
            factor *= bind[symbol]
        total += factor
    return total


def substitute(size: Size, bind: Mapping[str, int]) -> Size:
    """`size` with some of its symbols replaced by numbers."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, factor in _terms(size).items():
        term: Size = factor
        for symbol in monomial:
            term = multiply(term, bind.get(symbol, symbol))
        total = add(total, term)
    return total


def size_text(size: Size) -> str:
    """How `size` is written in guards, drawings and generated source."""
    return str(size)


def shape_text(shape: Sequence[Size]) -> str:
    """`(1, S, 8)`: a shape as tuples are written, symbols without quotes."""
    sizes = ", ".join(size_text(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def checked_shape(shape: Sequence[object]) -> Shape:
    """`shape` as a tuple of sizes; TypeError or ValueError where an entry is neither a size >= 0 nor a symbol."""
    return tuple(_checked_size(size) for size in shape)


def _checked_size(size: object) -> Size:
    if isinstance(size, Poly):
        return size
    if isinstance(size, str):
        if not _SYMBOL.fullmatch(size) or size in ("None", "True", "False"):
            raise ValueError(f"a symbol is a name with a capital first letter such as 'S', not {size!r}")
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f"a size is an int or a symbol such as 'S', not {size!r}")
    number = int(size.__index__())
    if number < 0:
        raise ValueError(f"a size is at least 0, not {number}")
    return number


def broadcast(op: str, a: Shape, b: Shape) -> Shape:
    """The shape of an elementwise `op` on `a` and `b`; ShapeError where equality of two sizes cannot be proven."""
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    return tuple(_broadcast_size(op, p, q, a, b) for p, q in zip(left, right, strict=True))


def _broadcast_size(op: str, p: Size, q: Size, a: Shape, b: Shape) -> Size:
    if p == q or q == 1:
        return p
    if p == 1:
        return q
    raise mismatch(op, a, b, f"{size_text(p)} is not provably {size_text(q)}")


def mismatch(op: str, a: Shape, b: Shape, why: str) -> ShapeError:
    """The error of every rule: the operation, both shapes, the reason."""
    return ShapeError(f"{op}: shapes {shape_text(a)} and {shape_text(b)} do not fit: {why}")

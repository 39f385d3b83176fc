"""Points as text: decimal arithmetic, one rounding, and a spelling that every LMS reads as that number."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal

Sign = Literal[".", ","]

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d*)?|[+-]?[.,]\d+", re.ASCII)
_EXACT = Context(prec=60)


def parse(text: str) -> Decimal | None:
    """The number a cell holds, with either decimal sign; None for anything else, thousands signs included."""
    cleaned = text.strip().replace(",", ".")
    return Decimal(cleaned) if _NUMBER.fullmatch(cleaned) else None


def exact(value: float) -> Decimal:
    """The number as it is written, not its binary neighbour: 0.1 is 0.1."""
    return Decimal(repr(value))


def rounded(value: Decimal, decimals: int) -> Decimal:
    """Half up, the rounding people expect of a grade."""
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=_EXACT)


def spelled(value: Decimal, sign: Sign = ".") -> str:
    """Plain digits: no exponent, no thousands sign, no zeros after the last digit that counts.

    >>> spelled(Decimal("9.50")), spelled(Decimal("1E+2")), spelled(Decimal("-0.00")), spelled(Decimal("7.5"), ",")
    ('9.5', '100', '0', '7,5')
    """
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text.replace(".", sign)


def decimal_sign(cells: list[str]) -> Sign | None:
    """The decimal sign that the numbers of a file use; None without evidence or with both kinds."""
    found = {text.strip().lstrip("+-").lstrip("0123456789")[:1] for text in cells if _fraction(text)}
    return "," if found == {","} else "." if found == {"."} else None


def _fraction(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d*[.,]\d+", text.strip()) is not None

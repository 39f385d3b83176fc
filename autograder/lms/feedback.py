"""Feedback text on its way into a cell: what an LMS's reader would misread is changed here, once."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FORMULA = re.compile(r"\s*[=+\-@]")


def escaped(text: str) -> str:
    """Free text for a file opened in a spreadsheet: `'` before what would run as a formula; a lone `-` is text."""
    return f"'{text}" if _FORMULA.match(text) and text.strip() != "-" else text


def for_cell(text: str, *, php: bool, formulas: bool) -> str:
    """Line ends become LF, control characters spaces. `php`: a space parts a backslash from a quote or the end."""
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    if php:
        text = re.sub(r'\\(?="|$(?![\s\S]))', r"\\ ", text)
    return escaped(text) if formulas else text

"""PHP's reading of CSV, numbers and dates as Moodle's two importers use it."""

from __future__ import annotations

import re

from autograder.lms.readers.seen import Rejected


def moodle_rows(data: bytes, encoding: str) -> list[list[str]]:
    """To UTF-8, mark off, line ends LF, trailing space off, empty lines skipped. Raises Rejected for uneven rows."""
    text = data.decode(encoding).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip()
    found = [rows for delimiter in ",;:\t" if (rows := _try(text, delimiter)) and len(rows[0]) > 1]
    even = [rows for rows in found if len({len(row) for row in rows}) == 1]
    if not even:
        raise Rejected("rows have different numbers of columns")
    return max(even, key=lambda rows: len(rows[0]))


def _try(text: str, delimiter: str) -> list[list[str]]:
    rows, position = [], 0
    while position < len(text):
        row, position = _record(text, position, delimiter)
        if any(map(str.strip, row)):
            rows.append(row)
    return rows


def _record(text: str, position: int, delimiter: str) -> tuple[list[str], int]:
    """One call of fgetcsv with `"` and the escape character backslash, as a state machine over the characters."""
    row: list[str] = []
    field = ""
    inside = escaped = False
    start = True
    while position < len(text):
        character = text[position]
        position += 1
        if inside:
            if escaped:
                field, escaped = field + character, False
            elif character == "\\":
                field, escaped = field + character, True
            elif character == '"' and text[position : position + 1] == '"':
                field, position = field + '"', position + 1
            elif character == '"':
                inside = False
            else:
                field += character
        elif character == "\n":
            return [*row, field], position
        elif character == delimiter:
            row, field, start = [*row, field], "", True
        elif start and character == '"' and not field.strip():
            field, inside, start = "", True, False
        else:
            field += character
    return [*row, field], position


def number_text(text: str, sign: str) -> str:
    """Spaces out, then the decimal sign of the session's language becomes a point."""
    return text.replace(" ", "").replace("\u00a0", "").replace(sign, ".")


def is_numeric(text: str) -> bool:
    return re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", text) is not None


def as_float(text: str) -> str:
    """PHP's cast: the longest number at the start, 0 if there is none."""
    match = re.match(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", text)
    return match.group() if match else "0"

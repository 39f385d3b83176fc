"""Canvas's gradebook importer: separator from three lines, number rewriting in every cell, blank erases."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal

from autograder.lms.readers.seen import Rejected, Seen

_BLANK_LINE = re.compile(r"[;, ]*")
_REWRITTEN = re.compile(r"-?[0-9.,]+%?")
_POINTS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_TOTALS = ("Current Score", "Current Points", "Current Grade", "Final Score", "Final Points", "Final Grade",
           "Override Score", "Override Grade", "Override Status")  # fmt: skip


def read(data: bytes, title: str) -> list[Seen]:
    """The rows of students under the header `title`, which must carry the assignment's number. Raises Rejected."""
    rows = _records(data)
    header = rows[0]
    first = _first_free_column(header)
    if header.count(title) != 1 or header.index(title) < first:
        raise Rejected(f"{title!r} is not one column of the file")
    if any(total in title for total in _TOTALS):
        raise Rejected(f"{title!r} is taken for a total and dropped")
    if not re.search(r"\s\([0-9]+\)\Z", title):
        raise Rejected(f"{title!r} carries no assignment number: Canvas would ask to create an assignment")
    column, seen, points = header.index(title), [], Decimal(0)
    for row in rows[1:]:
        if "Points Possible" in row[0]:
            if re.search("read only", row[column]):
                raise Rejected(f"{title!r} is read only")
            text = _rewritten(row[column])
            points = Decimal(text) if _POINTS.fullmatch(text) else Decimal(0)
    for number, row in enumerate(rows[1:], 1):
        marks_only = all(re.fullmatch(r"\s*|Muted|Manual Posting.*", cell) for cell in row)
        if "Points Possible" not in row[0] and not marks_only:
            seen.append(_seen(number, [_rewritten(cell) for cell in row], header, column, points))
    return seen


def _records(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected("not UTF-8") from error
    if text.startswith('\ufeff"'):
        raise Rejected("byte order mark before a quote")
    text = text.removeprefix("\ufeff")
    outside = re.sub(r'"(?:[^"]|"")*"', "", text)
    if len({match.group() for match in re.finditer(r"\r\n|\r|\n", outside)}) > 1:
        raise Rejected("mixed line ends")
    delimiter = _delimiter(text)
    lines = re.split(r"(\r\n|\r|\n)", text)
    kept = "".join(
        line + end for line, end in zip(lines[::2], [*lines[1::2], ""]) if not line or not _BLANK_LINE.fullmatch(line)
    )
    try:
        rows = [
            row
            for row in csv.reader(io.StringIO(kept, newline=""), delimiter=delimiter, strict=True)
            if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise Rejected(f"malformed: {error}") from error
    if not rows:
        raise Rejected("empty")
    return [row + [""] * (len(rows[0]) - len(row)) for row in rows]


def _delimiter(text: str) -> str:
    """Each of the first three physical lines must give the same number of fields, the larger number wins."""
    best, width = ",", 0
    for candidate in ",;":
        counts = set()
        for line in re.split(r"\r\n|\r|\n", text)[:3]:
            try:
                counts.add(len(next(csv.reader([line], delimiter=candidate, strict=True), [])))
            except csv.Error:
                counts |= {-1, -2}
        if len(counts) == 1 and max(counts) > width:
            best, width = candidate, max(counts)
    return best


def _first_free_column(header: list[str]) -> int:
    if len(header) < 4:
        raise Rejected("the CSV header row is invalid: fewer than 4 columns")
    pair = "LastName" in header[0] and "FirstName" in header[1] and "ID" in header[2]
    if not pair and not ("Student" in header[0] and "ID" in header[1]):
        raise Rejected("the CSV header row is invalid")
    position = 3 if pair else 2
    if "SIS User ID" in header[position]:
        if "SIS Login ID" not in header[position + 1]:
            raise Rejected("the CSV header row is invalid: SIS User ID without SIS Login ID")
        position += 2
        position += "Integration ID" in header[position]
        position += "Root Account" in header[position]
    elif "SIS Login ID" in header[position]:
        position += 1
    if "Section" not in header[position]:
        raise Rejected("the CSV header row is invalid: no Section")
    return position + 1


def _rewritten(cell: str) -> str:
    """Canvas does this to every cell, ids included: the last sign is the decimal one, the others vanish."""
    if _REWRITTEN.fullmatch(cell):
        head, sign, tail = re.fullmatch(r"(.*?)(?:([.,])([^.,]*))?", cell, re.DOTALL).groups()  # type: ignore[union-attr]
        cell = re.sub("[.,]", "", head) + (f".{tail}" if sign and tail.strip("%") else tail or "")
    return cell.strip()


def _seen(number: int, row: list[str], header: list[str], column: int, points: Decimal) -> Seen:
    key = next(
        (row[at] for at, name in enumerate(header[:6]) if name in ("ID", "SIS User ID", "SIS Login ID") and row[at]),
        row[0],
    )
    text = row[column]
    if text.upper() in ("EX", "EXCUSED"):
        return Seen(number, key, "excused")
    if text in ("", "-"):
        return Seen(number, key, "clear")
    if _POINTS.fullmatch(text):
        return Seen(number, key, "score", Decimal(text))
    if text.endswith("%") and _POINTS.fullmatch(text[:-1]):
        return Seen(number, key, "score", Decimal(text[:-1]) * points / 100)
    if text in ("pass", "complete"):
        return Seen(number, key, "score", points)
    if text in ("fail", "incomplete"):
        return Seen(number, key, "score", Decimal(0))
    return Seen(number, key, "no_score")

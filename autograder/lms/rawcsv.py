"""Delimited text whose every byte survives: a cell keeps its raw text, so an unchanged file is written as it was read.

`csv` of the standard library cannot do this: it forgets which cells were quoted, how lines ended and the encoding.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.lms.errors import TemplateError

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LINE_END = re.compile(r"\r\n|\n|\r")


class CannotEncode(ValueError):
    """A value has no spelling in this dialect or encoding."""


@dataclass(frozen=True)
class Dialect:
    """How cells are told apart. `escape` is PHP's: inside quotes, the character after it never ends the cell."""

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None


@dataclass
class Cell:
    """`raw` is the text as it stands in the file, `value` what it means."""

    raw: str
    value: str

    @property
    def quoted(self) -> bool:
        return self.raw.startswith('"') and self.raw != self.value


@dataclass
class Row:
    cells: list[Cell]
    end: str
    """The line end, empty on a last line without one."""
    line: int
    """Where it starts in the file, from 1."""

    @property
    def blank(self) -> bool:
        return not any(cell.value.strip() for cell in self.cells)

    def value(self, column: int) -> str:
        return self.cells[column].value


@dataclass
class Sheet:
    """A parsed file. `to_bytes` of a sheet nobody changed is the input, byte for byte."""

    bom: bytes
    encoding: str
    dialect: Dialect
    rows: list[Row]
    _style: dict[int, bool] = field(default_factory=dict, repr=False)

    def to_bytes(self, rows: Sequence[Row] | None = None) -> bytes:
        return self.bom + self.text(rows).encode(self.encoding)

    def text(self, rows: Sequence[Row] | None = None) -> str:
        parts: list[str] = []
        for row in self.rows if rows is None else rows:
            parts.append(self.dialect.delimiter.join(cell.raw for cell in row.cells))
            parts.append(row.end)
        return "".join(parts)

    def write(self, row: Row, column: int, value: str) -> None:
        """Put `value` in a cell, quoted as the cell was; an empty one as the rest of its column.

        Raises CannotEncode when the dialect has no quotes and needs them, or the encoding lacks a character.
        """
        old = row.cells[column]
        quoted = old.quoted if old.raw else self._column_is_quoted(column)
        new = Cell(encode(value, self.dialect, quoted=quoted), value)
        try:
            new.raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise CannotEncode(f"{value[error.start : error.end]!r} does not exist in {self.encoding}") from error
        row.cells[column] = new

    def _column_is_quoted(self, column: int) -> bool:
        """Whether the non-empty cells of a column are quoted below the header; if all are empty, all those."""
        if column not in self._style:
            inside = [row.cells[column] for row in self.rows[1:] if column < len(row.cells)]
            cells = [c for c in inside if c.raw] or [c for row in self.rows[1:] for c in row.cells if c.raw]
            self._style[column] = bool(cells) and all(cell.quoted for cell in cells)
        return self._style[column]

    @property
    def line_ends(self) -> set[str]:
        return {row.end for row in self.rows if row.end}

    def require_rectangle(self) -> None:
        """Raises TemplateError at the first row that is not as wide as the first one; blank lines do not count."""
        width = len(self.rows[0].cells) if self.rows else 0
        for row in self.rows:
            if len(row.cells) != width and not row.blank:
                raise TemplateError(
                    f"line {row.line} has {len(row.cells)} cells, the header has {width}",
                    "download the file again and do not edit it",
                )


def decode(data: bytes, encoding: str | None = None) -> tuple[bytes, str, str]:
    """The byte order mark, the encoding and the text of a file; TemplateError unless the way back is exact."""
    for bom, name in BOMS:
        if data.startswith(bom) and (encoding is None or _same(encoding, name)):
            return bom, name, _exactly(data[len(bom) :], name)
    return b"", encoding or _guess(data), _exactly(data, encoding or _guess(data))


def _same(asked: str, name: str) -> bool:
    try:
        return codecs.lookup(asked).name in {name, name.removesuffix("-le").removesuffix("-be"), "utf-8-sig"}
    except LookupError:
        return False


def _guess(data: bytes) -> str:
    """UTF-16 without a mark shows as a NUL in every other byte; everything else must be UTF-8."""
    if data[1:2] == b"\0" and data[0:1] != b"\0":
        return "utf-16-le"
    return "utf-16-be" if data[0:1] == b"\0" and data[1:2] != b"\0" else "utf-8"


def _exactly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
        if text.encode(encoding) == data:
            return text
        reason = "cannot be written back exactly"
    except LookupError:
        raise TemplateError(f"no encoding is called {encoding!r}", "give a name such as cp1252 to --encoding") from None
    except UnicodeError as error:
        reason = f"is not valid ({error})"
    raise TemplateError(
        f"the file read as {encoding} {reason}", "download it again as UTF-8, or name its encoding with --encoding"
    )


@lru_cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """One cell with whatever follows its closing quote; groups: inside of the quotes, rest."""
    delimiter = re.escape(dialect.delimiter)
    rest = rf"([^{delimiter}\r\n]*)"
    if dialect.quote is None:
        return re.compile(rf"(?!)(){rest}|{rest}")
    quote = re.escape(dialect.quote)
    if dialect.escape is None:
        inside = rf"[^{quote}]*(?:{quote}{quote}[^{quote}]*)*"
    else:
        escape = re.escape(dialect.escape)
        inside = rf"[^{quote}{escape}]*(?:(?:{quote}{quote}|{escape}[\s\S])[^{quote}{escape}]*)*"
    return re.compile(rf"{quote}({inside}){quote}{rest}|(?!{quote}){rest}")


def parse(text: str, dialect: Dialect) -> list[Row]:
    """Rows of cells; joining the raw texts gives `text` again. TemplateError on a quote that is never closed."""
    return list(_rows(text, dialect))


def _rows(text: str, dialect: Dialect) -> Iterator[Row]:
    pattern, position, line = _pattern(dialect), 0, 1
    while position < len(text):
        start, cells = line, []
        while True:
            match = pattern.match(text, position)
            if match is None:
                raise TemplateError(
                    f"a quoted cell that starts on line {line} is never closed", "download the file again"
                )
            cells.append(_cell(match, dialect))
            line += len(_LINE_END.findall(match.group()))
            position = match.end()
            if not text.startswith(dialect.delimiter, position):
                break
            position += 1
        ending = _LINE_END.match(text, position)
        end = ending.group() if ending else ""
        position, line = position + len(end), line + 1
        yield Row(cells, end, start)


def _cell(match: re.Match[str], dialect: Dialect) -> Cell:
    inside = match.group(1)
    if inside is None or dialect.quote is None:
        return Cell(match.group(), match.group())
    return Cell(match.group(), _unquote(inside, dialect) + match.group(2))


def _unquote(inside: str, dialect: Dialect) -> str:
    quote = dialect.quote or ""
    if dialect.escape is None:
        return inside.replace(quote * 2, quote)
    pair = re.compile(rf"({re.escape(dialect.escape)}[\s\S])|{re.escape(quote)}{{2}}")
    return pair.sub(lambda match: match.group(1) or quote, inside)


def encode(value: str, dialect: Dialect, *, quoted: bool = False) -> str:
    """The raw text of a value: quoted when asked for or needed, quotes doubled (RFC 4180)."""
    quote = dialect.quote
    special = dialect.delimiter + "\r\n"
    if quote is None:
        if any(character in value for character in special):
            raise CannotEncode(f"{value!r} needs quotes, and this format has none")
        return value
    needed = value != value.strip() or any(character in value for character in special + quote)
    return quote + value.replace(quote, quote * 2) + quote if quoted or needed else value


def read(data: bytes, delimiters: str, *, quote: str | None = '"', escape: str | None = None,
         encoding: str | None = None) -> Sheet:  # fmt: skip
    """Parse with the delimiter that gives the widest header, preferring one under which every row is as wide.

    Raises TemplateError when the file is empty, or no delimiter gives a header of two columns.
    """
    bom, name, text = decode(data, encoding)
    problems: list[TemplateError] = []
    found: list[tuple[bool, int, Sheet]] = []
    for delimiter in delimiters:
        dialect = Dialect(delimiter, quote, escape)
        try:
            sheet = Sheet(bom, name, dialect, parse(text, dialect))
        except TemplateError as error:
            problems.append(error)
            continue
        if sheet.rows and len(sheet.rows[0].cells) > 1:
            found.append((_even(sheet), len(sheet.rows[0].cells), sheet))
    if not found:
        raise (
            problems[0]
            if problems
            else TemplateError("the file has no header row of at least two columns", "download it again from the LMS")
        )
    return max(found, key=lambda candidate: candidate[:2])[2]


def _even(sheet: Sheet) -> bool:
    return len({len(row.cells) for row in sheet.rows if not row.blank}) == 1

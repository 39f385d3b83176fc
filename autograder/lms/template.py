"""What the exporter knows about one LMS's file: which cells are grades, who the rows are, what the cells may say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from autograder.lms import numbers
from autograder.lms.errors import ColumnError, TemplateError
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row, Sheet, read

_FAMILY = ("Last name", "Surname")
Kind = Literal["blank", "number", "excused", "not_assigned", "text", "word"]


@dataclass(frozen=True)
class Existing:
    """What a grade cell says now. `text` is lost by writing a number; `word` shows that the column takes no numbers."""

    kind: Kind
    value: Decimal | None = None


@dataclass(frozen=True)
class Key:
    """A column that identifies students, and the Identity fields it may hold (the first one a student has counts)."""

    column: int
    title: str
    fields: tuple[str, ...]
    clean: Callable[[str], str] = str.strip
    fold: bool = False
    """Whether the LMS ignores case here."""


def nothing(_: Row) -> None:
    return None


def no_companions(_row: Row, _grade: Grade, _value: Decimal) -> dict[int, str]:
    return {}


def plain_existing(text: str) -> Existing:
    if not text.strip():
        return Existing("blank")
    value = numbers.parse(text)
    return Existing("text") if value is None else Existing("number", value)


@dataclass
class Template:
    """A file of an LMS, understood. `sheet` is the only thing that is ever changed."""

    sheet: Sheet
    students: list[Row]
    column: int
    keys: list[Key]
    name: Callable[[Row], str]
    """The full name in a row, empty when the file has none."""
    sign: numbers.Sign = "."
    title: str = ""
    """Of the grade column; what its header says, unless given."""
    decimals: int = 2
    feedback: int | None = None
    maximum: Callable[[Row], Decimal | None] = nothing
    existing: Callable[[str], Existing] = plain_existing
    nothing_yet: Callable[[Row], bool] = lambda _row: False
    """Whether what the cell says is no grade, judged by the rest of the row."""
    locked: Callable[[Row], str | None] = nothing
    """Why the LMS would not take a grade in this row."""
    unfit: Callable[[Row, Grade, Decimal], str | None] = lambda _row, _grade, _value: None
    """Why this value cannot be written (an item that only takes all or nothing)."""
    missing_is_zero: bool = False
    """Whether the file itself says 0 for who handed nothing in."""
    excused: str | None = None
    no_excuse: str = "this file cannot say excused: set it in the LMS"
    state: int | None = None
    """A column that spells graded, missing, excused, not_assigned."""
    companions: Callable[[Row, Grade, Decimal], dict[int, str]] = no_companions
    """Other cells that change together with the score."""
    php: bool = False
    """Whether a backslash before a quote is dangerous to the reader."""
    escape_formulas: bool = False
    blind: bool = False
    """Rows without names, which must not be joined to names where graders see it."""
    blank_erases: bool = False
    """Whether importing a blank cell clears a grade given since the download."""
    ignored: list[Row] = field(default_factory=list)
    """Rows of students that are no students (the Test Student)."""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.title = self.title or self.header.value(self.column)

    @property
    def header(self) -> Row:
        return self.sheet.rows[0]

    def holds(self, row: Row) -> Existing:
        return Existing("blank") if self.nothing_yet(row) else self.existing(row.value(self.column))

    def row_key(self, row: Row) -> str:
        return row.value(self.keys[0].column) if self.keys else str(row.line)


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def find(header: Row, *titles: str) -> int | None:
    """The column with one of these titles; case and spaces do not matter, the order of `titles` does."""
    names = [folded(cell.value) for cell in header.cells]
    for title in titles:
        if folded(title) in names:
            return names.index(folded(title))
    return None


def choose(candidates: Sequence[tuple[int, str, tuple[str, ...]]], options: Options, what: str = "grade column") -> int:
    """The column asked for among (column, full title, other names); raises ColumnError listing all of them.

    Without --column: the one titled like the assignment, or the only one there is.
    """
    listed = [title for _, title, _ in candidates]
    if options.column is not None:
        chosen = _named(candidates, options.column)
        if len(chosen) != 1:
            found = "is not there" if not chosen else f"stands for {len(chosen)} columns"
            raise ColumnError(f"{what} {options.column!r} {found}", listed)
        return chosen[0]
    for title in filter(None, [options.assignment]):
        chosen = _named(candidates, title)
        if len(chosen) == 1:
            return chosen[0]
    if len(candidates) != 1:
        raise ColumnError(f"the template has {len(candidates)} columns that could be the {what}", listed)
    return candidates[0][0]


def _named(candidates: Sequence[tuple[int, str, tuple[str, ...]]], wanted: str) -> list[int]:
    exact = [column for column, title, names in candidates if wanted in (title, *names)]
    return exact or [
        column for column, title, names in candidates if folded(wanted) in {folded(name) for name in (title, *names)}
    ]


def feedback_of(header: Row, options: Options, *known: str) -> int | None:
    """The feedback column; raises ColumnError when the one asked for is not there."""
    column = find(header, *([options.feedback_column] if options.feedback_column else known))
    if column is None and options.feedback_column:
        raise ColumnError(f"feedback column {options.feedback_column!r} is not there", [c.value for c in header.cells])
    return column


def extra_keys(header: Row, options: Options) -> list[Key]:
    """Keys of --match; raises TemplateError for a column that is not there."""
    keys = []
    for title, name in options.match.items():
        column = find(header, title)
        if column is None:
            raise TemplateError(f"the template has no column {title!r} to match by",
                                "use one of: " + ", ".join(cell.value for cell in header.cells))  # fmt: skip
        keys.append(Key(column, header.value(column), (name,)))
    return keys


def keys_of(header: Row, options: Options, known: dict[str, tuple[str, ...]], *, fold: frozenset[str] = frozenset(),
            clean: Callable[[str], str] = str.strip) -> list[Key]:  # fmt: skip
    """The columns of `known` that the header has; --match replaces what is known about a column."""
    keys = extra_keys(header, options)
    taken = {key.column for key in keys}
    for title, names in known.items():
        column = find(header, title)
        if column is not None and column not in taken:
            keys.append(Key(column, header.value(column), names, clean, title in fold))
            taken.add(column)
    return keys


def sign_for(options: Options, rows: Sequence[Row], columns: Sequence[int]) -> numbers.Sign:
    """The decimal sign of these cells; a point without evidence, which every LMS here reads as one."""
    cells = [row.value(column) for row in rows for column in columns]
    return options.decimal_sign or numbers.decimal_sign(cells) or "."


def body(sheet: Sheet) -> list[Row]:
    return [row for row in sheet.rows[1:] if not row.blank]


def table(data: bytes, delimiters: str, options: Options, *, escape: str | None = None) -> tuple[Sheet, Row, list[Row]]:
    """A file of one header and one row per student: the sheet, the header, the rows.

    Raises TemplateError when a row is not as wide as the header.
    """
    sheet = read(data, delimiters, escape=escape, encoding=options.encoding)
    sheet.require_rectangle()
    return sheet, sheet.rows[0], body(sheet)


def full_name(header: Row) -> Callable[[Row], str]:
    """How a row says who it is: in one column, or in two; empty when the file has no names."""
    whole, given, family = find(header, "Full name", "Name"), find(header, "First name"), find(header, *_FAMILY)
    if whole is not None:
        return lambda row: row.value(whole)
    if given is not None and family is not None:
        return lambda row: f"{row.value(given)} {row.value(family)}"
    return lambda _row: ""

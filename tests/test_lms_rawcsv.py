"""The byte-preserving layer: what was not changed comes back byte for byte, in every dialect and encoding."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms import rawcsv
from autograder.lms.errors import TemplateError
from autograder.lms.rawcsv import CannotEncode, Dialect, Sheet

DIALECTS = [Dialect(d, q, e) for d in ",;\t:|" for q, e in (('"', None), ('"', "\\"), (None, None))]
dialects = st.sampled_from(DIALECTS)
hostile = st.text(alphabet=st.sampled_from("ab0,;\t:|\"\\\r\n '=é\u202eש𝛼\x85\u2028"), max_size=40)
values = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12) | hostile
tables = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(values, min_size=n, max_size=n), min_size=1, max_size=5))
encodings = st.sampled_from(
    [(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
)


@given(hostile, dialects)
def test_any_text_comes_back(text: str, dialect: Dialect) -> None:
    try:
        rows = rawcsv.parse(text, dialect)
    except TemplateError:  # a quote that is never closed, which the dialect must have
        assert '"' in text
        assert dialect.quote is not None
        return
    assert Sheet(b"", "utf-8", dialect, rows).text() == text
    assert all(row.cells for row in rows)


@given(tables, st.sampled_from(",;\t:"), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans(), encodings)
def test_values_are_those_of_the_standard_library(
    table: list[list[str]], delimiter: str, end: str, everything: bool, ended: bool, encoding: tuple[bytes, str]
) -> None:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(table)
    text = out.getvalue() if ended else out.getvalue()[: -len(end)]
    bom, name = encoding
    data = bom + text.encode(name)
    found_bom, found, decoded = rawcsv.decode(data)
    if bom:
        assert (found_bom, found) == (bom, name)
    sheet = Sheet(found_bom, found, Dialect(delimiter), rawcsv.parse(decoded, Dialect(delimiter)))
    assert sheet.to_bytes() == data
    expected = list(csv.reader(io.StringIO(decoded, newline=""), delimiter=delimiter))
    got = [[cell.value for cell in row.cells] for row in sheet.rows]
    assert [row for row in got if row != [""]] == [row for row in expected if row not in ([], [""])]


@given(tables, st.data(), st.sampled_from(",;\t"), st.booleans())
def test_a_written_cell_is_read_back_and_the_others_are_untouched(
    table: list[list[str]], data: st.DataObject, delimiter: str, everything: bool
) -> None:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerows(table)
    dialect = Dialect(delimiter)
    sheet = Sheet(b"", "utf-8", dialect, rawcsv.parse(out.getvalue(), dialect))
    number = data.draw(st.integers(0, len(sheet.rows) - 1))
    row = sheet.rows[number]
    column = data.draw(st.integers(0, len(row.cells) - 1))
    value = data.draw(values)
    others = [cell.raw for r in sheet.rows for c, cell in enumerate(r.cells) if (r, c) != (row, column)]
    sheet.write(row, column, value)
    assert [cell.raw for r in sheet.rows for c, cell in enumerate(r.cells) if (r, c) != (row, column)] == others
    again = rawcsv.parse(sheet.text(), dialect)
    assert again[number].value(column) == value
    assert len(again) == len(sheet.rows) or value == ""


@pytest.mark.parametrize(
    ("raw", "value", "becomes"),
    [
        ("a,9.50,c", "7", "a,7,c"),
        ('"a","9.50","c"', "7", '"a","7","c"'),
        ('a,"9,50",c', "7,5", 'a,"7,5",c'),
        ("a,9.50,c", "7,5", 'a,"7,5",c'),
        ('"a","","c"', "7", '"a","7","c"'),
        ("a,,c", "7", "a,7,c"),
        ('"a",,"c"', "7", '"a","7","c"'),
        ("a,x,c", 'say "hi"', 'a,"say ""hi""",c'),
        ("a,x,c", " padded ", 'a," padded ",c'),
    ],
)  # fmt: skip
def test_a_new_value_is_quoted_like_its_cell(raw: str, value: str, becomes: str) -> None:
    sheet = rawcsv.read(f"h1,h2,h3\n{raw}".encode(), ",")
    sheet.write(sheet.rows[1], 1, value)
    assert sheet.text() == f"h1,h2,h3\n{becomes}"


def test_a_backslash_keeps_a_cell_open_only_where_php_reads() -> None:
    text = 'a,b\n"x\\",y\n'
    assert rawcsv.parse(text, Dialect(","))[1].value(0) == "x\\"
    with pytest.raises(TemplateError, match="line 2 is never closed"):
        rawcsv.parse(text, Dialect(",", '"', "\\"))
    kept = rawcsv.parse('a\n"x\\"y"\n', Dialect(",", '"', "\\"))
    assert kept[1].value(0) == 'x\\"y'


def test_what_cannot_be_written_is_an_error() -> None:
    plain = rawcsv.read("a,b\nc,d\n".encode("cp1252"), ",", encoding="cp1252")
    with pytest.raises(CannotEncode, match="does not exist in cp1252"):
        plain.write(plain.rows[1], 1, "שירה")
    bare = rawcsv.read(b"a,b\nc,d\n", ",", quote=None)
    with pytest.raises(CannotEncode, match="needs quotes"):
        bare.write(bare.rows[1], 1, "d,e")
    assert (plain.text(), bare.text()) == ("a,b\nc,d\n", "a,b\nc,d\n")


@pytest.mark.parametrize(
    ("data", "encoding", "says"),
    [
        (b"a,b\n\xff\xe9,1\n", None, "--encoding"),
        (b"a,b\n", "no-such", "no encoding is called"),
        (b"\xff\xfea", None, "--encoding"),
        (b"", None, "no header row"),
        (b"one\ntwo\n", None, "no header row"),
        (b'a,b\n"open,1\n', None, "never closed"),
    ],
)
def test_an_unreadable_file_says_what_to_do(data: bytes, encoding: str | None, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        rawcsv.read(data, ",;", encoding=encoding)


def test_the_delimiter_is_the_one_that_makes_a_table() -> None:
    assert rawcsv.read(b'Student;ID;"HW, a, b, c, d (1)"\nx;1;7,5\n', ",;").dialect.delimiter == ";"
    assert rawcsv.read(b"a,b;c,d;e\n1,2;3,4;5\n", ",;").dialect.delimiter in ",;"
    with pytest.raises(TemplateError, match="line 3 has 3 cells, the header has 2"):
        rawcsv.read(b"a,b\n1,2\n1,2,3\n", ",").require_rectangle()
    rawcsv.read(b"a,b\n1,2\n\n,\n", ",").require_rectangle()

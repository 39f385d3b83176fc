"""What a hand-in is when it is no Python module: the mistakes behind errors that say little."""

from __future__ import annotations

import codecs
import re

_BEGINNINGS = (
    (b"%PDF", "this is a PDF, not Python: hand in the .py file itself"),
    (b"PK\x03\x04", "this is a zip archive: unpack it and hand in the .py file in it"),
    (b"{\\rtf", "this was saved by a word processor: save it as plain text"),
    (codecs.BOM_UTF16_LE, "this is UTF-16: save the file as UTF-8, the editor's usual encoding"),
    (codecs.BOM_UTF16_BE, "this is UTF-16: save the file as UTF-8, the editor's usual encoding"),
)
_CONTENTS = (
    (rb"\A\s*\{.*\"cells\"", "this is a notebook under a module's name: export it as a script, or copy its cells over"),
    (rb"\A\s*<(!doctype|html|\?xml)", "this is a web page: download the raw file instead of saving the page about it"),
    (rb"^(<<<<<<<|>>>>>>>) ", "these are git's marks of a merge conflict: choose one side and remove them"),
    (rb"^\s*(%%?[a-z]+ |%[a-z]+$|![a-z])", "lines that begin with % or ! are commands of a notebook: remove them"),
    (rb"^(>>> |In \[\d+\]:)", "this is a copy of a terminal session: remove its prompts"),
    ("[\u2018\u2019\u201c\u201d]".encode(), "these are a word processor's curly quotes: type straight ones"),
    (rb"\0", "zero bytes are no text: the file is damaged, save it again"),
    (rb"\A\s*\Z", "the file is empty"),
)
LIBRARIES = "where it is graded there are torch, numpy, course_lib and what comes with Python"


def what_it_is(data: bytes) -> str | None:
    """A fact and a remedy for the file `data`; None when it looks like Python."""
    for beginning, says in _BEGINNINGS:
        if data.startswith(beginning):
            return says
    for pattern, says in _CONTENTS:
        if re.search(pattern, data, re.MULTILINE | re.IGNORECASE | re.DOTALL):
            return says
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8: save the file as UTF-8, the editor's usual encoding"
    return None

"""Names as people and platforms write them: compared without losing a letter, shown without tricks, safe as folders."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote_to_bytes

MAX_FOLDER = 200
"""Bytes of a folder name; file systems allow 255, and `.json` or a temporary suffix still has to fit."""

_UNSEEN = frozenset("\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_PUNCTUATION = frozenset(" -_.@+,()'~=&")
_RESERVED = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?|collected\.json", re.IGNORECASE
)
_MOODLE_REMOVES = re.compile(r"""[\x00-\x1f\x7f&<>"`|':\\/]""")


def shown(text: str) -> str:
    """`text` with what is invisible, reorders a line or cannot be printed written as an escape."""
    return "".join(_escaped(char) if _is_unseen(char) else char for char in text)


def _is_unseen(char: str) -> bool:
    return char in _UNSEEN or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def normal(text: str) -> str:
    """The form in which names and keys are compared: NFC, case-folded, white space collapsed; no letter is dropped."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split())


def canvas_key(sortable: str) -> str:
    """A name as Canvas writes it into a file name: lower case, word characters only (of every script)."""
    kept = (char for char in unicodedata.normalize("NFC", sortable) if _is_word(char))
    return normal("".join(kept))


def _is_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Pc")


def moodle_key(name: str) -> str:
    """A name as Moodle writes it into a folder name: without the characters that it removes from file names."""
    return normal(_MOODLE_REMOVES.sub("", name.replace("_", " ")))


def folder_name(id: str) -> str:
    """`id` as a folder name: itself where that is safe everywhere, else with percent escapes (see `folder_id`).

    Raises:
        ValueError: it is empty or too long.
    """
    name = "".join(_folder_char(char) for char in id)
    if name.startswith((".", " ", "-", "~")) or _RESERVED.fullmatch(name):  # hidden, an option, a device of Windows
        name = _percent(name[0]) + name[1:]
    if name.endswith((".", " ")):
        name = name[:-1] + _percent(name[-1])
    if not name or len(name.encode("utf-8", "surrogateescape")) > MAX_FOLDER:
        raise ValueError("empty" if not name else "too long for a folder name")
    return name


def folder_id(name: str) -> str:
    """The id whose folder is `name`."""
    return unquote_to_bytes(name.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _folder_char(char: str) -> str:
    return char if char in _PUNCTUATION or unicodedata.category(char)[0] in "LMN" else _percent(char)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))

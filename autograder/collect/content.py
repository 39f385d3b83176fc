"""What a file is, told by its bytes: Python, a notebook, or something else with a Python file's name."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator

from autograder.collect.files import MIB, Problem

_KINDS = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive or an Office document"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "a rich text document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
)
_HTML = re.compile(rb"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)
_NOTEBOOK = re.compile(rb'^\s*\{.*"nbformat"\s*:', re.DOTALL)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*=[^=]", re.MULTILINE)
_PARSED = MIB
"""Larger texts are searched for definitions instead of parsed; no hand-in is near that."""


def is_notebook(data: bytes) -> bool:
    return _NOTEBOOK.match(data.removeprefix(codecs.BOM_UTF8)) is not None


def not_python(data: bytes) -> str | None:
    """What the bytes are when they cannot be Python source; None when they can."""
    for magic, kind in _KINDS:
        if data.startswith(magic):
            return kind
    if not data.strip():
        return "empty"
    if _HTML.match(data.removeprefix(codecs.BOM_UTF8)):
        return "a web page"
    if is_notebook(data):
        return "a notebook"
    if not data.startswith(_UTF16) and b"\x00" in data[:4096] and not _looks_utf16(data):
        return "no text (it holds zero bytes)"
    return None


def _looks_utf16(data: bytes) -> bool:
    head = data[:4096]
    return max(head[::2].count(0), head[1::2].count(0)) > len(head) // 3


def decode(data: bytes) -> tuple[str, str]:
    """The text and its encoding as Python would read it, else as an editor probably wrote it."""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeError, LookupError, ValueError):
        pass
    if data.startswith(_UTF16) or _looks_utf16(data):
        order = "utf-16" if data.startswith(_UTF16) else "utf-16-le" if data[1:2] == b"\x00" else "utf-16-be"
        return data.decode(order, "replace"), "utf-16"
    return data.decode("cp1252", "replace"), "an older Windows encoding, or a damaged file"


def encoding_problem(data: bytes) -> Problem | None:
    """Python reads UTF-8, and what a coding line names."""
    _, encoding = decode(data)
    try:
        data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeError, LookupError, ValueError):
        return Problem(f"not UTF-8 ({encoding}), kept byte for byte; Python cannot import it",
                       "decide whether the student may save it as UTF-8")  # fmt: skip
    return None


def defined(data: bytes) -> set[str]:
    """The functions, classes and variables that the module defines, also when its syntax is wrong."""
    text = decode(data)[0].removeprefix("\ufeff")
    if len(text) <= _PARSED:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return set(_names(ast.parse(text).body))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return {function or variable for function, variable in _DEFINITION.findall(text)}


def _names(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names bound at the module's level, inside `if`, `try` and `with` too; an import is no definition."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id
        for part in ("body", "orelse", "finalbody", "handlers"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _names(_blocks(getattr(node, part, ())))


def _blocks(part: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    for node in part:
        if isinstance(node, ast.ExceptHandler):
            yield from node.body
        elif isinstance(node, ast.stmt):
            yield node

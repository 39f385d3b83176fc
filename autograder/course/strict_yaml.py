"""YAML whose every complaint has a line: parsed to nodes, checked against a msgspec struct, never guessed at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import msgspec

from autograder.course.errors import ManifestError

T = TypeVar("T")
Place = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_WHERE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<where>.*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_CONSTANTS = {"true": True, "false": False}


class Document:
    """Plain data together with the line on which each part of it stands."""

    def __init__(self, path: Path, text: str, first_line: int = 1) -> None:
        self.path = path
        self.node = _compose(path, text, first_line)
        self._offset = first_line
        self._lines: dict[Place, int] = {(): first_line}
        self._open: set[int] = set()
        self.data: Any = {} if self.node is None else self._plain(self.node, ())

    def line(self, place: Place) -> int:
        """The line of `place`, or of the nearest part around it."""
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def error(self, place: Place, message: str, remedy: str = "") -> ManifestError:
        name = _name(place)
        return ManifestError(self.path, self.line(place), f"{name}: {message}" if name else message, remedy)

    def convert(self, kind: type[T]) -> T:
        """The data as a `kind`, a msgspec struct that forbids unknown fields; the first fault is a ManifestError."""
        if not isinstance(self.data, dict):
            raise self.error((), "a mapping of keys to values is needed here", f"write it like {_example(kind)}")
        try:
            return msgspec.convert(self.data, kind)
        except msgspec.ValidationError as fault:
            raise self._explain(str(fault), kind) from None

    def _explain(self, fault: str, kind: type) -> ManifestError:
        match = _WHERE.match(fault)
        assert match is not None
        what, where = match["what"], match["where"] or ""
        place: Place = tuple(int(index) if index else key for key, index in _STEP.findall(where))
        field = re.search(r"`(\w+)`$", what)
        if "unknown field" in what and field:
            known = _fields(kind, place)
            return self.error((*place, field[1]), "unknown key", did_you_mean(field[1], known))
        if "missing required field" in what and field:
            return self.error(place, f"the key {field[1]!r} is missing", f"add '{field[1]}: ...'")
        value = self.data
        for step in place:
            value = value[step]
        given = f", not {value!r}" if isinstance(value, str | int | float) else ""
        return self.error(place, f"{_friendly(what)}{given}", "correct the value")

    def _plain(self, node: Any, place: Place) -> Any:
        self._lines.setdefault(place, node.start_mark.line + self._offset)
        if id(node) in self._open:
            raise self.error(place, "an alias that contains itself", "write the value out")
        self._open.add(id(node))
        try:
            if node.id == "mapping":
                return self._mapping(node, place)
            if node.id == "sequence":
                return [self._plain(item, (*place, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, place)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: Any, place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + self._offset
            if key_node.id != "scalar":
                raise ManifestError(self.path, line, "a key must be a plain word", "write 'key: value'")
            key = str(key_node.value)
            if key in result:
                raise ManifestError(self.path, line, f"{_name((*place, key))}: the key is there twice", "keep one")
            self._lines[*place, key] = line
            result[key] = self._plain(value_node, (*place, key))
        return result

    def _scalar(self, node: Any, place: Place) -> Any:
        tag, text = str(node.tag).removeprefix(_TAG), node.value
        try:
            match tag:
                case "str":
                    return text
                case "int":
                    return int(text.replace("_", ""), 0)
                case "float":
                    return float(text)
                case "bool":
                    return _CONSTANTS[text.lower()]
                case "null":
                    return None
        except (ValueError, KeyError):
            tag = "value"
        raise self.error(place, f"{text!r} is a {tag} that is not understood here", "put text into quotes")


def load(path: Path, kind: type[T]) -> tuple[T, Document]:
    """The file at `path` as a `kind`, and the document for errors that only its meaning shows."""
    document = Document(path, read_text(path))
    return document.convert(kind), document


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        line = path.read_bytes()[: fault.start].count(b"\n") + 1
        raise ManifestError(path, line, "not UTF-8 text", "save the file as UTF-8") from None
    except OSError as fault:
        raise ManifestError(
            path, 1, f"cannot be read ({fault.strerror})", "check the path and its permissions"
        ) from None


def did_you_mean(word: str, known: list[str]) -> str:
    """The remedy for a misspelt word."""
    from difflib import get_close_matches  # only a mistake pays for it

    close = get_close_matches(word, known, n=1)
    listed = ", ".join(known) or "none"
    return f"did you mean {close[0]!r}?" if close else f"known here: {listed}"


def _compose(path: Path, text: str, first_line: int) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line = first_line + (mark.line if mark else 0)
        reason = " ".join(part for part in (fault.context, fault.problem) if part)
        remedy = "check indentation, and quote text that contains ': ', '#', '[' or '{'"
        raise ManifestError(path, line, f"not valid YAML ({reason})", remedy) from None
    except YAMLError as fault:
        reason = str(fault).splitlines()[0]
        raise ManifestError(path, first_line, f"not valid YAML ({reason})", "remove control characters") from None


def _name(place: Place) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _fields(kind: Any, place: Place) -> list[str]:
    """The keys that a mapping at `place` of a `kind` may have."""
    for step in (step for step in place if isinstance(step, str)):  # an index leads to the same kind
        kind = _resolve(next(field.type for field in msgspec.structs.fields(kind) if field.encode_name == step))
    return [field.encode_name for field in msgspec.structs.fields(kind)]


def _resolve(kind: Any) -> Any:
    """The struct inside `Annotated[list[Struct], ...]`, or `kind` when there is none."""
    if _is_struct(kind) or get_origin(kind) is None:
        return kind
    inner = [_resolve(arg) for arg in get_args(kind)]
    return next((arg for arg in inner if _is_struct(arg)), kind)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _example(kind: Any) -> str:
    return ", ".join(f"'{field.encode_name}: ...'" for field in msgspec.structs.fields(kind)[:2])


_WORDS = {
    ", got `str`": "",
    ", got `int`": "",
    ", got `float`": "",
    ", got `bool`": "",
    ", got `null`": "",
    ", got": ", not",
    " of length >= 1": " that is not empty",
    "`str`": "text",
    "`int`": "a whole number",
    "`float`": "a number",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "a mapping",
    "`null`": "nothing",
    "Expected": "needs",
}


def _friendly(what: str) -> str:
    for word, better in _WORDS.items():
        what = what.replace(word, better)
    return what

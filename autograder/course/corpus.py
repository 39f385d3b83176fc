"""The corpus of an assignment: programs whose verdict is known, each written as what it changes in the solution."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from autograder.course.errors import CourseError, ManifestError, shown
from autograder.course.strict_yaml import Document, read_text

if TYPE_CHECKING:
    from autograder.manifest import Assignment

Group = Literal["right", "wrong", "cheat"]
GROUPS: tuple[Group, ...] = ("right", "wrong", "cheat")
UNPARSED = "broken"
"""A folder beside the groups for programs that Python cannot read, used by tests only."""

CheckName = Annotated[str, Meta(pattern=r"^(?!test_)[A-Za-z_][A-Za-z0-9_]*(\[.+\])?$")]
Sentence = Annotated[str, Meta(min_length=1)]


class _Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    standalone: bool = False


class _Wrong(_Right, frozen=True, forbid_unknown_fields=True, kw_only=True):
    fails: Annotated[list[CheckName], Meta(min_length=1)]
    also: list[CheckName] = []
    says: Sentence = ""


class _Cheat(_Right, frozen=True, forbid_unknown_fields=True, kw_only=True):
    earns: list[CheckName] = []


_HEADERS: dict[Group, type[_Right]] = {"right": _Right, "wrong": _Wrong, "cheat": _Cheat}


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One program of the corpus, ready to be graded."""

    group: Group
    name: str
    title: str
    source: str
    """The whole module: the solution with this variant's definitions after it, unless standalone."""
    path: Path
    standalone: bool = False
    fails: list[str] = []
    also: list[str] = []
    earns: list[str] = []
    says: str = ""

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


def load_corpus(assignment: Assignment) -> list[Variant]:
    """Every program of the assignment's corpus, by group and name; [] where there is none."""
    folder = assignment.source_dir / "corpus" if assignment.source_dir else None
    if folder is None or not folder.is_dir():
        return []
    _reject_strangers(folder)
    if assignment.solution_path is None:
        raise CourseError(f"{assignment.id} has a corpus but no solution {assignment.module}", "write the solution")
    solution = read_text(assignment.solution_path)
    _parse(assignment.solution_path, solution)
    paths = [(group, path) for group in GROUPS for path in sorted((folder / group).glob("*.py"))]
    return [_load(group, path, solution) for group, path in paths]


def _reject_strangers(folder: Path) -> None:
    known = {*GROUPS, UNPARSED, "__pycache__"}
    for entry in sorted(folder.iterdir()):
        if entry.name not in known and (entry.is_dir() or entry.suffix == ".py"):
            groups = ", ".join(GROUPS)
            raise CourseError(f"{shown(entry)} is in no group of the corpus", f"move it into one of {groups}")


def _load(group: Group, path: Path, solution: str) -> Variant:
    text = read_text(path)
    tree = _parse(path, text)
    title, header = _header(group, path, tree)
    return Variant(
        group=group,
        name=path.stem,
        title=title,
        source=text if header.standalone else _compose(path, text, tree, solution),
        path=path,
        **{name: getattr(header, name) for name in header.__struct_fields__},
    )


def _header(group: Group, path: Path, tree: ast.Module) -> tuple[str, _Right]:
    """The title and the YAML after the docstring's first blank line."""
    docstring = ast.get_docstring(tree, clean=True)
    if not docstring:
        remedy = 'begin the file with """What it does, in one sentence."""'
        raise ManifestError(path, 1, "a program of the corpus needs a docstring", remedy)
    lines = docstring.split("\n")
    blank = next((index for index, line in enumerate(lines) if not line.strip()), len(lines))
    title = " ".join(line.strip() for line in lines[:blank])
    # `clean` drops blank lines in front of the first one, so the opening quotes may stand further up.
    raw = tree.body[0].value.value  # type: ignore[attr-defined]
    first_line = tree.body[0].lineno + len(raw) - len(raw.lstrip("\n"))
    start = min(blank + 1, len(lines) - 1)
    document = Document(path, "\n".join(lines[blank + 1 :]), first_line + start)
    return title, document.convert(_HEADERS[group])


def _compose(path: Path, text: str, tree: ast.Module, solution: str) -> str:
    """`solution` with the definitions of `text` after it."""
    lines = text.split("\n")
    dropped: list[ast.stmt] = [tree.body[0], *_futures(tree)]
    features = {alias.name for node in _futures(ast.parse(solution)) for alias in node.names}
    for node in _futures(tree):
        missing = sorted({alias.name for alias in node.names} - features)
        if missing:
            remedy = "import it in the solution too, or write 'standalone: true' in the header"
            raise ManifestError(path, node.lineno, f"the solution does not import {missing[0]} from __future__", remedy)
    for statement in dropped:
        for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            lines[number] = ""
    if len(tree.body) == len(dropped):
        raise ManifestError(path, 1, "the variant changes nothing", "write the definitions that it replaces")
    text = "\n".join(lines)
    composed = f"{solution.rstrip()}\n\n\n{text.strip()}\n"
    _parse(path, composed)
    return composed


def _futures(tree: ast.Module) -> list[ast.ImportFrom]:
    return [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]


def _parse(path: Path, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as fault:
        remedy = "correct it, or keep a program that must not parse in corpus/broken"
        raise ManifestError(path, fault.lineno or 1, f"not valid Python ({fault.msg})", remedy) from None

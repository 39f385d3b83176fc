"""Which of the files that somebody handed in is the module; certain, or listed for a person to decide."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from autograder.collect import content, notebook
from autograder.collect.archives import is_archive, list_archive
from autograder.collect.files import (
    MAX_ARCHIVE,
    MAX_DEPTH,
    MAX_NOTEBOOK,
    UNOPENED,
    File,
    Problem,
    Refused,
    suffix,
)
from autograder.manifest import Assignment
from autograder.running import MAX_MODULE

_SOURCE = (".py", ".pyw")
_MAX_FILES = 2000


@dataclass
class Pick:
    """The module of a hand-in, or why there is none."""

    data: bytes | None = None
    entry: str = ""
    original: bytes | None = None
    """The notebook that the module was taken from."""
    notes: list[str] = field(default_factory=list)
    odd: list[Problem] = field(default_factory=list)

    @property
    def sha256(self) -> str | None:
        return hashlib.sha256(self.data).hexdigest() if self.data is not None else None


@dataclass(frozen=True)
class _Candidate:
    file: File
    data: bytes
    names: frozenset[str]
    original: bytes | None = None


class Picker:
    """Chooses the module of one assignment."""

    def __init__(self, assignment: Assignment) -> None:
        self._module, self._stubs = assignment.module, frozenset(assignment.stub_names)
        self._notebooks = assignment.notebook_accepted
        released = assignment.student_module
        self._released = released.read_bytes() if released.is_file() else None

    def pick(self, files: Iterable[File]) -> Pick:
        pick = Pick()
        unpacked = _Unpacked(pick.odd)
        unpacked.add(files)
        everything = unpacked.files
        if len(everything) > _MAX_FILES:
            pick.odd.append(Problem(f"{len(everything):,} files", "ask for the module alone"))
            return pick
        chosen = None
        if not any(file.name == self._module for file in unpacked.refused):  # else another one might be a wrong one
            chosen = self._chosen(everything, pick)
        if chosen is None:
            if not pick.odd:
                pick.odd.append(self._nothing(everything))
            return pick
        if self._usable(chosen, pick):
            pick.data, pick.entry, pick.original = chosen.data, chosen.file.origin, chosen.original
        return pick

    def _chosen(self, files: list[File], pick: Pick) -> _Candidate | None:
        if any(file.name == self._module for file in files):
            return self._module_by_name(files, pick)
        return self._module_by_content(files, pick)

    def _module_by_name(self, files: list[File], pick: Pick) -> _Candidate | None:
        named = [file for file in files if file.name == self._module]
        exact = _read_all(named, pick.odd)
        if len(exact) < len(named):
            return None
        if len({candidate.data for candidate in exact}) > 1:
            pick.odd.append(_several(exact))
            return None
        chosen = min(exact, key=lambda candidate: len(candidate.file.path))
        if self._notebooks and content.is_notebook(chosen.data):
            return self._extracted(chosen.file, chosen.data) or chosen
        if not self._is_worthless(chosen):
            return chosen
        rivals = [c for c in self._definers(files) if c.data != chosen.data]
        if rivals:
            pick.odd.append(_several([chosen, *rivals]))
            return None
        return chosen

    def _is_worthless(self, candidate: _Candidate) -> bool:
        """Whether another file may be what the student meant: this one holds none of the work."""
        is_text = content.not_python(candidate.data) is None
        return not is_text or not candidate.names & self._stubs or candidate.data == self._released

    def _definers(self, files: list[File]) -> list[_Candidate]:
        """Python files of other names that define what is asked for, all of it where there are such."""
        others = [file for file in files if file.name != self._module and _is_source(file.name)]
        return self._best(_read_all(others, []))

    def _best(self, candidates: list[_Candidate]) -> list[_Candidate]:
        full = [candidate for candidate in candidates if candidate.names >= self._stubs]
        return full or [candidate for candidate in candidates if candidate.names & self._stubs]

    def _module_by_content(self, files: list[File], pick: Pick) -> _Candidate | None:
        sources: list[Callable[[], list[_Candidate]]] = [
            lambda: self._definers(files),
            lambda: self._named_alike(files),
            lambda: self._from_notebooks(files, pick),
        ]
        for source in sources:
            found = source()
            if len({candidate.data for candidate in found}) > 1:
                pick.odd.append(_several(found))
                return None
            if found:
                how = "taken from the notebook" if found[0].original is not None else "renamed from"
                pick.notes.append(f"{how} {found[0].file.origin}")
                return found[0]
        return None

    def _named_alike(self, files: list[File]) -> list[_Candidate]:
        """`Softmax.py`, `softmax (1).py`: the module by its name, whatever is in it."""
        stem = self._module.removesuffix(".py").casefold()
        alike = [
            file for file in files if _is_source(file.name) and _stem(file.name) == stem and file.name != self._module
        ]
        return _read_all(alike, [])

    def _from_notebooks(self, files: list[File], pick: Pick) -> list[_Candidate]:
        found = []
        for file in files if self._notebooks else ():
            if suffix(file.name) != ".ipynb":
                continue
            try:
                original = file.read(MAX_NOTEBOOK)
            except Refused as error:
                pick.odd.append(_about(file, error.problem))
                continue
            if candidate := self._extracted(file, original):
                found.append(candidate)
        return self._best(found)

    def _extracted(self, file: File, original: bytes) -> _Candidate | None:
        code = notebook.extract(original)
        if code is None:
            return None
        data = code.encode("utf-8", "backslashreplace")
        return _Candidate(file, data, frozenset(content.defined(data)), original)

    def _usable(self, chosen: _Candidate, pick: Pick) -> bool:
        """Whether it can be graded at all; what else is odd is listed."""
        kind = content.not_python(chosen.data)
        if kind is not None:
            what = f"{chosen.file.origin} is {kind}, not Python"
            pick.odd.append(Problem(what, f"ask the student for {self._module}"))
            return False
        if problem := content.encoding_problem(chosen.data):
            pick.odd.append(_about(chosen.file, problem))
        elif not chosen.names & self._stubs:
            what = f"{chosen.file.origin} defines none of {', '.join(sorted(self._stubs))}"
            pick.odd.append(Problem(what, "see whether it belongs to another assignment"))
        return True

    def _nothing(self, files: list[File]) -> Problem:
        notebooks = [file for file in files if suffix(file.name) == ".ipynb"]
        if notebooks and not self._notebooks:
            what = f"a notebook ({notebooks[0].origin}), and the assignment takes {self._module}"
        elif files:
            what = f"no {self._module}: it holds {', '.join(file.origin for file in files[:5])}"
        else:
            what = f"no {self._module}: it is empty"
        return Problem(what, f"ask the student for {self._module}, or put it there by hand")


@dataclass
class _Unpacked:
    """The files of a hand-in, with those of archives among them; what is refused is listed."""

    odd: list[Problem]
    files: list[File] = field(default_factory=list)
    refused: list[File] = field(default_factory=list)

    def add(self, files: Iterable[File], depth: int = 0) -> None:
        for file in files:
            problem = file.problem
            if problem is None and suffix(file.name) in UNOPENED:
                problem = Problem("an archive of a kind that is not opened here", "open it by hand")
            elif problem is None and is_archive(file):
                problem = self._add_archive(file, depth)
            elif problem is None:
                self.files.append(file)
            if problem is not None:
                self.odd.append(_about(file, problem))
                self.refused.append(file)

    def _add_archive(self, file: File, depth: int) -> Problem | None:
        if depth >= MAX_DEPTH:
            return Problem("an archive too deep inside archives", "ask for the module alone")
        try:
            listing = list_archive(io.BytesIO(file.read(MAX_ARCHIVE)), f"{file.origin}!")
        except Refused as error:
            return error.problem
        self.odd.extend(Problem(f"{name}: {problem.fact}", problem.remedy) for name, problem in listing.unplaced)
        self.add(listing.files, depth + 1)
        return None


def _read_all(files: Iterable[File], odd: list[Problem]) -> list[_Candidate]:
    found = []
    for file in files:
        try:
            data = file.read(MAX_MODULE)
        except Refused as error:
            odd.append(_about(file, error.problem))
            continue
        found.append(_Candidate(file, data, frozenset(content.defined(data))))
    return found


def _about(file: File, problem: Problem) -> Problem:
    return Problem(f"{file.origin}: {problem.fact}", problem.remedy)


def _several(candidates: list[_Candidate]) -> Problem:
    names = ", ".join(sorted({candidate.file.origin for candidate in candidates})[:6])
    return Problem(f"several files may be the module: {names}", "ask which one counts, or put it there by hand")


def _is_source(name: str) -> bool:
    """Also `softmax.py.txt`, which is what a system that hides endings makes of it."""
    name = name.casefold()
    return name.endswith((*_SOURCE, ".py.txt"))


def _stem(name: str) -> str:
    """A file's name without its ending and without what browsers and platforms add to tell copies apart."""
    stem = name.casefold().removesuffix(".txt").removesuffix(".pyw").removesuffix(".py")
    return re.sub(r"\s*(\(\d{1,3}\)|[-_ ]\d{1,3}|[-_ ]+copy( \d+)?)$", "", stem).strip()

"""Recognising a known mistake: a failing submission that does exactly what a known wrong variant does.

The corpus of an assignment holds wrong programs, each with a sentence for the student. When a submission's outputs in a
failed check coincide with those of such a program, the sentence is added to the feedback.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from autograder.errors import AutograderError
from autograder.manifest import Assignment, Variant, load_corpus
from course_lib._device import Device

MAX_CANDIDATES = 12
"""Wrong variants tried for one failed check: each costs a process."""
CLOSE = 1e-6
"""Relative difference up to which two outputs count as the same."""


class Misconceptions:
    """The wrong variants of one assignment; `transcript_of(check id, source)` runs one of them in a check."""

    def __init__(self, assignment: Assignment, transcript_of: Callable[[str, bytes], list[Any]]) -> None:
        self._assignment, self._transcript_of = assignment, transcript_of
        self._known: dict[tuple[str, str], list[Any]] = {}

    def explain(
        self, check_id: str, name: str, transcript: list[tuple[str, Any, list[Device]]], *, counted: bool
    ) -> str | None:
        """The sentence of the one variant that coincides; None when there is none, or several say different things.

        counted: whether the check judges how something was computed, so that counts have to coincide as well.
        """
        mine = self.summary(transcript, counted)
        if not mine:
            return None
        candidates = [v for v in self._variants if name in v.fails or check_id in v.fails][:MAX_CANDIDATES]
        said = {
            variant.says for variant in candidates if same(mine, self.summary(self._of(variant, check_id), counted))
        }
        return said.pop() if len(said) == 1 else None

    @cached_property
    def _variants(self) -> list[Variant]:
        try:
            return [variant for variant in load_corpus(self._assignment) if variant.group == "wrong" and variant.says]
        except AutograderError:  # a broken corpus is reported by `verify`; a student's grade does not depend on it
            return []

    def _of(self, variant: Variant, check_id: str) -> list[Any]:
        key = (variant.name, check_id)
        if key not in self._known:
            self._known[key] = self._transcript_of(check_id, variant.source.encode())
        return self._known[key]

    @staticmethod
    def summary(transcript: list[tuple[str, Any, list[Device]]], counted: bool) -> list[Any]:
        """Calls, what they returned and what they left in the devices, as plain data."""
        return [
            [name, _plain(value), [_state_of(device, counted) for device in devices]]
            for name, value, devices in transcript
        ]


def _state_of(device: Device, counted: bool) -> Any:
    contents, *how = device._outcome()
    return _plain([contents, how] if counted else contents)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return [[key, _plain(item)] for key, item in value.items()]
    if type(value).__module__ == "torch" and hasattr(value, "detach"):
        return value.detach().resolve_conj().numpy() if value.is_complex() else value.detach().double().numpy()
    if isinstance(value, np.ndarray | np.generic | int | float) and not isinstance(value, bool):
        return np.asarray(value)
    return value if isinstance(value, bool | str | bytes) else type(value).__name__


def same(left: Any, right: Any) -> bool:
    """Whether two summaries coincide, numbers up to rounding, NaN equal to NaN."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if left.shape != right.shape or left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
            return False
        return bool(np.allclose(left.astype(float), right.astype(float), rtol=CLOSE, atol=1e-12, equal_nan=True))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))
    return type(left) is type(right) and bool(left == right)

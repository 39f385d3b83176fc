"""What runs on the platform: find the hand-in, grade it, write the platform's result, whatever happens.

The result is written once, after every process of the submission is gone, so nothing of it can change the file.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.errors import GraderError
from autograder.platforms import settings as bundle_settings
from autograder.platforms.handin import NotHandedIn, read_hand_in
from autograder.platforms.judging import Judged, judge, load
from autograder.platforms.settings import Settings
from autograder.render import gradescope, prairielearn
from autograder.render.terminal import score_line

EXIT_FAULT = 3
DETAILS = "AUTOGRADER_DETAILS"
"""Set in the environment, it has a fault's traceback printed for PrairieLearn too."""


def main(arguments: Sequence[str]) -> int:
    """Grade the folder SUBMISSION with the unpacked BUNDLE and write RESULTS (`arguments`: these three paths).

    Returns 0 when a result was written. What is printed is for the staff and holds no student's text.
    """
    bundle, submission, results = map(Path, arguments)
    results.parent.mkdir(parents=True, exist_ok=True)
    results.unlink(missing_ok=True)  # whatever it is, this run did not write it
    settings = None
    try:
        settings = bundle_settings.read(bundle)
        document = _graded(bundle, submission, settings)
    except Exception:
        return _fault(settings, results)
    _write(results, document)
    return 0


def _graded(bundle: Path, submission: Path, settings: Settings) -> dict[str, Any]:
    assignment = load(bundle, settings)
    try:
        data = read_hand_in(submission, assignment.module)
    except NotHandedIn as problem:
        print(f"nothing to grade: no {assignment.module} that could be taken")
        return _refused(settings, assignment.module, str(problem))
    judged = judge(assignment, data, settings)
    _say_what_protected(judged)
    print(score_line(judged.record))
    if judged.record.score is None:
        raise GraderError("the grader failed in a check:\n" + "\n".join(_faults(judged)))
    if settings.platform == "gradescope":
        return gradescope.results(judged.record, hidden_as=settings.hidden_as)
    return prairielearn.results(judged.record)


def _refused(settings: Settings, module: str, why: str) -> dict[str, Any]:
    if settings.platform == "gradescope":
        return gradescope.refused(module, why)
    return prairielearn.not_gradable(why)


def _say_what_protected(judged: Judged) -> None:
    """The staff's log names each wall, and what is lost without the missing ones."""
    print(f"isolation of the submission: mode {judged.mode}")
    for layer in judged.layers:
        print(f"  {'yes' if layer.active else 'no '} {layer.name}" + ("" if layer.active else f": {layer.detail}"))


def _faults(judged: Judged) -> list[str]:
    from autograder.record import GraderFault

    failures = [(check.id, check.failure) for check in judged.record.checks]
    return [f"{id}: {fault.message}\n{fault.traceback}" for id, fault in failures if isinstance(fault, GraderFault)]


def _fault(settings: Settings | None, results: Path) -> int:
    """A fault of the grader is never a grade.

    Gradescope reports a missing results.json as "the autograder failed to execute correctly" and shows the log to the
    staff only. PrairieLearn may show the log to the student, so the details, which can quote hidden checks, stay out.
    """
    known = settings is not None and settings.platform == "prairielearn"
    if not known or DETAILS in os.environ:
        print(traceback.format_exc())
    if not known:
        print("the grader failed; no result is written, so this is not a grade")
        return EXIT_FAULT
    print(f"the grader failed; the submission is reported as not gradable; run this with {DETAILS}=1 to see why")
    _write(results, prairielearn.not_gradable(prairielearn.FAULT))
    return 0


def _write(results: Path, document: dict[str, Any]) -> None:
    """Whole or not at all; readable by a host that collects it as another user."""
    temporary = results.with_name(f".{results.name}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o644)
        json.dump(document, file, ensure_ascii=False, allow_nan=False, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(descriptor)
    os.replace(temporary, results)

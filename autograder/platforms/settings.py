"""What a bundle was made for: chosen by `autograder package`, read again on the platform."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from autograder.errors import GraderError
from autograder.isolation import Isolation
from autograder.manifest import Assignment, Limits
from autograder.render.gradescope import HiddenAs

FILE = "bundle.json"
COURSE = "course"
"""The folder of a bundle that holds solutions, hidden checks and secret."""
OWN_MIB = 512
"""What grader, warm parent and the libraries they share may need themselves (measured: docs/platforms.md)."""
LEAST_MIB = 192
"""What a submission gets at least: more than any solution of the course uses."""

Name = Literal["gradescope", "prairielearn"]


class Platform(NamedTuple):
    """What a platform gives a container by default."""

    memory_mib: int
    seconds: int


PLATFORMS: dict[Name, Platform] = {
    # Gradescope, "Troubleshooting", https://gradescope-autograders.readthedocs.io/en/latest/troubleshooting/
    "gradescope": Platform(768, 600),
    # PrairieLearn, "External Grading" (longest timeout), https://docs.prairielearn.com/externalGrading/; memory: its
    # grader's configuration, https://github.com/PrairieLearn/PrairieLearn/blob/master/apps/grader-host/src/lib/config.ts
    "prairielearn": Platform(2048, 600),
}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contents of `bundle.json`."""

    format: Literal[1] = 1
    platform: Name
    assignment: str
    isolation: Isolation = Isolation.AUTO
    memory_mib: int
    hidden_as: HiddenAs = "hidden"

    def limits(self, declared: Limits) -> Limits:
        """The assignment's limits inside this container: its own limit is hit before the container's.

        A platform that has to stop a container gives no points and no reason.
        """
        return msgspec.structs.replace(
            declared,
            memory_mib=min(declared.memory_mib, max(LEAST_MIB, self.memory_mib - OWN_MIB)),
            total_seconds=min(declared.total_seconds, PLATFORMS[self.platform].seconds / 2),
        )


def write(settings: Settings) -> bytes:
    return msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n"


def read(bundle: Path) -> Settings:
    """The settings of an unpacked bundle; GraderError when they are not as written."""
    path = bundle / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Settings)
    except (OSError, msgspec.MsgspecError) as error:
        raise GraderError(f"{path} cannot be used: {error}; package the assignment again") from None


def limited(assignment: Assignment, settings: Settings) -> Assignment:
    """The assignment with the limits of the bundle's container."""
    return msgspec.structs.replace(assignment, limits=settings.limits(assignment.limits))

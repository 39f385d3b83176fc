"""`autograder collect`: from what a learning platform lets staff download to one clean folder per student."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Layout"]


class Layout(StrEnum):
    """How a download is arranged; `auto` looks and reports what it saw."""

    AUTO = "auto"
    FOLDER = "folder"
    NBGRADER = "nbgrader"
    CANVAS = "canvas"
    MOODLE = "moodle"
    BLACKBOARD = "blackboard"
    BRIGHTSPACE = "brightspace"
    GRADESCOPE = "gradescope"
    GITHUB = "github"

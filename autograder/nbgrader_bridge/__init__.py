"""The bridge to nbgrader: assignments into its course folder, scores into its gradebook, its grades into an LMS.

`LmsExport` is for `nbgrader export --exporter=autograder.nbgrader_bridge.LmsExport`; see docs/nbgrader.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.nbgrader_bridge.export import LmsExport

__all__ = ["LmsExport"]


def __getattr__(name: str) -> object:
    """`LmsExport` brings nbgrader with it, which the commands that do not need it must not wait for."""
    if name != "LmsExport":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.nbgrader_bridge.export import LmsExport

    return LmsExport

"""Isolated processes for untrusted submissions: a warm parent that forks one confined child per submission."""

from __future__ import annotations

from autograder.isolation._host import probe
from autograder.isolation._parent import Process, WarmParent
from autograder.isolation._types import Exit, Isolation, IsolationError, Layer, Limits

__all__ = ["Exit", "Isolation", "IsolationError", "Layer", "Limits", "Process", "WarmParent", "probe"]

"""The grader: submissions in isolated processes, counted devices, typed results."""

from __future__ import annotations

__version__ = "0.1.0"

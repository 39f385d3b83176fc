"""Autograder bundles for other platforms, and what runs there: the same checks, the platform's own result."""

from __future__ import annotations

"""Renderers: every report is made from one `autograder.record.Record`."""

from __future__ import annotations

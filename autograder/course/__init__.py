"""What a course is made of on disk: strict YAML, manifests, the corpus of example submissions."""

from __future__ import annotations

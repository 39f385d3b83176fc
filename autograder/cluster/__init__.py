"""Grading on a Dask cluster: the same records from many machines. See docs/grading.md.

`remote` runs on the workers, `grading` on the machine of whoever grades; between them travel bytes.
"""

from __future__ import annotations

from autograder.cluster.grading import grade_on_cluster

__all__ = ["grade_on_cluster"]

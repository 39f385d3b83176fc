"""What a command printed, without the line breaks that depend on how long the paths in it are."""

from __future__ import annotations


def words(*texts: str) -> str:
    """The texts with every run of white space as one space: rich breaks a line wherever a long path makes it too long.

    >>> words("move it \\naway\\n", "  now")
    'move it away now'
    """
    return " ".join(" ".join(texts).split())

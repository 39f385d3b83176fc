"""`python -m autograder` is the command `autograder`."""

from __future__ import annotations

from autograder.cli import main

if __name__ == "__main__":  # worker processes import this module without running it
    main()

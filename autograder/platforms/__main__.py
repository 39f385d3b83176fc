"""What a bundle's script starts: `python -P -m autograder.platforms BUNDLE SUBMISSION RESULTS`."""

from __future__ import annotations

import sys

from autograder.platforms.station import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Leaves with exit code 0 while it is imported.

standalone: true
"""

import sys

print("6 passed in 0.01s")
sys.exit(0)

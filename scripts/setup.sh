#!/bin/sh
# Make a virtual environment (default .venv; another one: VENV=DIR) and install the project with everything it is developed with.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --editable '.[dev]'

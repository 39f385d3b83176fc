"""`autograder doctor`: what this machine offers, and what is lost without what it lacks."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.errors import AutograderError
from autograder.isolation import probe

if TYPE_CHECKING:
    from rich.console import Console

REQUIRED = ("torch", "numpy", "pytest", "msgspec", "rich", "typer")
OPTIONAL = {
    "matplotlib": "figures of the demos (extra: figures)",
    "torchvision": "the ResNet-50 checks of hw6 (extra: vision)",
    "pyseccomp": "the system-call filter of the isolation (extra: sandbox)",
}


def examine(console: Console) -> bool:
    """Print the examination; True when checks can run here at all."""
    console.print(
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"
    )
    healthy = sys.version_info >= (3, 11)
    healthy = _packages(console) and healthy
    _layers(console)
    _course(console)
    return healthy


def _packages(console: Console) -> bool:
    complete = True
    for name in REQUIRED:
        try:
            console.print(f"  ✓ {name} {version(name)}")
        except PackageNotFoundError:
            complete = False
            console.print(f"  ✗ {name} is missing: pip install it again with this course", style="red")
    for name, what in OPTIONAL.items():
        if find_spec(name) is None:
            console.print(f"  · {name} is not installed: without it no {what}")
        else:
            console.print(f"  ✓ {name}")
    return complete


def _layers(console: Console) -> None:
    console.print("isolation of submissions:")
    for layer in probe():
        mark = "✓" if layer.active else "·"
        console.print(f"  {mark} {layer.name}: {layer.detail}", markup=False)
    if platform.system() != "Linux":
        console.print("  grading others' submissions needs Linux; your own runs work here")


def _course(console: Console) -> None:
    from autograder.cli.common import course

    try:
        here = course()
    except AutograderError as error:
        console.print(f"course: {error}", markup=False)
        return
    secret = (
        "set" if here.secret() else "not set: hidden inputs are the public ones (put a secret into the secret_file)"
    )
    kind = "students' kit" if here.is_kit else f"staff's copy, course secret {secret}"
    console.print(f"course: {here.title} at {here.root} ({kind})", markup=False)

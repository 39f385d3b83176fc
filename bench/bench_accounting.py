"""Full-scale accounting against the real thing: time and memory of counting activations with and without tensors.

python bench/bench_accounting.py [--width 1024] [--tokens 512] [--layers 1 2 4]

Each measurement runs in a process of its own, so that peak memory is its own. The last table is an extrapolation from
the real measurements, and says so: a 7B stack is not run for real here.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from course_lib import Block, at_full_scale

MIB = 2**20
FULL = {"layers": 32, "width": 4096, "tokens": 512}


def saved_bytes(module, *inputs):
    """Bytes of all storages saved for backward, parameters included."""
    storages = {}
    keep = lambda t: storages.setdefault(t.untyped_storage()._cdata, t.untyped_storage()) and t  # noqa: E731
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        output = module(*inputs)
    del output
    return sum(storage.nbytes() for storage in storages.values())


def measure(kind, layers, width, tokens):
    """Runs here, in a fresh process: bytes, seconds, and the growth of the peak memory in MiB."""
    torch.set_num_threads(1)
    build = lambda: nn.Sequential(*(Block(width, width // 128) for _ in range(layers)))  # noqa: E731
    inputs = lambda: [torch.randn(1, tokens, width)]  # noqa: E731
    saved_bytes(Block(8, 2), torch.randn(1, 2, 8))
    at_full_scale(saved_bytes, lambda: Block(8, 2), lambda: [torch.randn(1, 2, 8)])  # imports are not the subject
    before, start = peak(), time.process_time()
    size = at_full_scale(saved_bytes, build, inputs) if kind == "weightless" else saved_bytes(build(), *inputs())
    return {"bytes": size, "seconds": time.process_time() - start, "mib": peak() - before}


def peak():
    scale = MIB if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def in_a_process(kind, layers, width, tokens):
    command = [sys.executable, __file__, "--one", kind, str(layers), str(width), str(tokens)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        kind, *sizes = arguments.one
        print(json.dumps(measure(kind, *map(int, sizes))))
        return
    report(arguments.layers, arguments.width, arguments.tokens)


def report(depths, width, tokens):
    console = Console()
    table = Table(title=f"Blocks of width {width}, {tokens} tokens, one thread, CPU seconds")
    columns = ("layers", "MiB saved", "equal", "real s", "fake s", "ratio", "real MiB", "fake MiB")
    for column in columns:
        table.add_column(column, justify="right")
    for layers in depths:
        real, fake = (in_a_process(kind, layers, width, tokens) for kind in ("real", "weightless"))
        ratio = real["seconds"] / fake["seconds"]
        cells = (f"{real['seconds']:.2f}", f"{fake['seconds']:.2f}", f"{ratio:.1f}", f"{real['mib']:,.0f}")
        equal = "yes" if real["bytes"] == fake["bytes"] else "NO"
        table.add_row(str(layers), f"{real['bytes'] / MIB:,.0f}", equal, *cells, f"{fake['mib']:,.0f}")
    console.print(table)

    full = in_a_process("weightless", **FULL)
    # Work per layer: 24 d^2 T of the projections and the MLP dominate; initialising 12 d^2 weights goes along.
    growth = FULL["layers"] / layers * (FULL["width"] / width) ** 2 * FULL["tokens"] / tokens
    seconds, mib = real["seconds"] * growth, full["bytes"] / MIB  # weights and activations: saved_bytes counts both
    title = f"{FULL['layers']} blocks of width {FULL['width']}, {FULL['tokens']} tokens"
    table = Table(title=title, caption="real: extrapolated by operation count, not run")
    for column in ("how", "seconds", "MiB"):
        table.add_column(column, justify="right" if column != "how" else "left")
    table.add_row("weightless, measured", f"{full['seconds']:.2f}", f"{full['mib']:,.0f}")
    table.add_row("real, extrapolated", f"{seconds:,.0f}", f"{mib:,.0f}")
    table.add_row("ratio", f"{seconds / full['seconds']:,.0f}", f"{mib / max(full['mib'], 1):,.0f}")
    console.print(table)


if __name__ == "__main__":
    main()

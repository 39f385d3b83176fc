"""Tables and figures of hw2, from your own module: traffic against N and SRAM, access maps, a roofline.

python demo.py [--solution] [--out DIR]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from autograder.demos import figure_folder, load_module
from course_lib import HBM

HERE = Path(__file__).resolve().parent
MODULE = "flash.py"
KERNELS = {"standard": "standard_attention", "v1": "flash_attention_v1", "v2": "flash_attention_v2"}
STYLE = {"standard": ("o", "-"), "v1": ("s", "--"), "v2": ("^", ":")}  # markers carry the meaning, colour only helps
PEAK, BANDWIDTH = 312e12, 1.555e12  # A100-SXM4-40GB data sheet: dense FP16 FLOP/s, HBM bytes/s
BYTES = 2  # FP16
console = Console()


def run(module, kind, N, d, block, causal=False):
    """The device after one kernel, which was metered."""
    generator = torch.Generator().manual_seed(N)
    hbm = HBM()
    arrays = [hbm.array(torch.randn(N, d, generator=generator, dtype=torch.float64), name) for name in "QKV"]
    options = {} if kind == "standard" else {"block": block}
    with hbm.metered():
        getattr(module, KERNELS[kind])(hbm, *arrays, causal=causal, **options)
    return hbm


def new_table(title, *columns, caption=None):
    table = Table(title=title, caption=caption)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def traffic(module):
    """Elements moved against N: measured points on the closed forms."""
    d, block = 16, (64, 64)
    lengths, curve = [64, 128, 256, 512], np.arange(64, 1025, 64)
    table = new_table(
        f"Elements moved at N = {lengths[-1]}, d = {d}, blocks of {block[0]}",
        *("kernel", "measured", "formula", "per element of Q, K, V", "on-chip peak"),
    )
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for kind, (marker, line) in STYLE.items():
        devices = [run(module, kind, N, d, block) for N in lengths]
        formula = [module.io_formula(kind, int(N), d, *block) for N in curve]
        moved = [hbm.accesses for hbm in devices]
        color = ax.plot(curve, formula, linestyle=line, alpha=0.8, label=f"{kind}: formula")[0].get_color()
        ax.plot(lengths, moved, marker=marker, linestyle="none", color=color, markersize=7, label=f"{kind}: measured")
        wanted = module.io_formula(kind, lengths[-1], d, *block)
        share = moved[-1] / (3 * lengths[-1] * d)
        table.add_row(kind, f"{moved[-1]:,}", f"{wanted:,}", f"{share:.1f}", f"{devices[-1].sram_peak:,}")
    ax.set(xscale="log", yscale="log", xlabel="sequence length N", ylabel="elements moved", title="HBM traffic")
    ax.set_xticks([64, 128, 256, 512, 1024], [64, 128, 256, 512, 1024])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    console.print(table)
    return figure


def sram(module):
    """Elements moved against the on-chip memory that block_sizes is given."""
    N, d = 1024, 64
    sizes = [2**k for k in range(9, 19)]
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    table = new_table(f"Traffic at N = {N}, d = {d} by size of the SRAM", "M", "Br", "Bc", "standard", "v1", "v2")
    curves = {kind: [] for kind in STYLE}
    for M in sizes:
        Br, Bc = module.block_sizes(M, d)
        moved = {kind: module.io_formula(kind, N, d, Br, Bc) for kind in STYLE}
        for kind, value in moved.items():
            curves[kind].append(value)
        table.add_row(f"{M:,}", str(Br), str(Bc), *(f"{value:,}" for value in moved.values()))
    for kind, (marker, line) in STYLE.items():
        ax.plot(sizes, curves[kind], marker=marker, linestyle=line, alpha=0.8, label=kind)
    ax.axvline(4 * d * d, color="black", linewidth=0.8)
    ax.text(4 * d * d * 1.1, ax.get_ylim()[1] * 0.6, "Bc = d: v2's Br\nstops growing", fontsize=8, va="top")
    ax.set(xscale="log", yscale="log", xlabel="on-chip memory M (elements)", ylabel="elements moved")
    ax.set_title(f"N = {N}, d = {d}, blocks by block_sizes(M, d)")
    ax.grid(alpha=0.3)
    ax.legend()
    console.print(table)
    return figure


def access_map(module):
    """Which rows of which array are read and written when: one kernel per row, without and with a causal mask."""
    N, d, block = 32, 4, (8, 8)
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    for (kind, causal), ax in zip([(k, c) for k in ("v1", "v2") for c in (False, True)], axes.flat):
        hbm = run(module, kind, N, d, block, causal)
        names = list(hbm.ledger)
        for time, event in enumerate(hbm.trace):
            base, (start, stop) = names.index(event.array), event.slice[0]
            reads = event.op == "read"
            ax.plot(
                *([time, time], [base + 0.1 + 0.8 * start / N, base + 0.1 + 0.8 * stop / N]),
                color="tab:blue" if reads else "tab:orange",
                linewidth=1.5 if reads else 3,
                solid_capstyle="butt",
            )
        ax.set_yticks(np.arange(len(names)) + 0.5, names)
        ax.set(
            ylim=(len(names), 0), xlabel="event", title=f"{kind}{', causal' if causal else ''}: {hbm.accesses} elements"
        )
        ax.grid(axis="x", alpha=0.3)
    figure.suptitle(f"Access map, N = {N}, blocks of {block[0]}: thin reads, thick writes; down = later rows")
    return figure


def roofline(module):
    """Arithmetic intensity of the three kernels and the time that compute and memory would take."""
    N, d = 256, 64
    rows = {"standard": (16, 16), "v1": (16, 16), "v2": (16, 16), "v2, Br = 64": (64, 16), "v2, Br = 128": (128, 16)}
    table = new_table(
        f"N = {N}, d = {d}: what would bound it",
        *("kernel", "MFLOP", "kB", "FLOP/B", "compute", "memory", "bound by"),
        caption=f"{PEAK / 1e12:.0f} TFLOP/s and {BANDWIDTH / 1e12:.3f} TB/s (A100-SXM4-40GB data sheet), FP16",
    )
    figure, ax = plt.subplots(figsize=(6.6, 4), layout="constrained")
    intensity = np.geomspace(1, 1000, 100)
    ax.plot(intensity, np.minimum(PEAK, BANDWIDTH * intensity) / 1e12, color="black", linewidth=1)
    for number, (label, block) in enumerate(rows.items()):
        kind = label.split(",")[0]
        hbm = run(module, kind, N, d, block)
        moved = BYTES * hbm.accesses
        compute, memory = hbm.flops / PEAK, moved / BANDWIDTH
        table.add_row(
            *(label, f"{hbm.flops / 1e6:.1f}", f"{moved / 1e3:.0f}", f"{hbm.flops / moved:.1f}"),
            *(f"{compute * 1e6:.3f} us", f"{memory * 1e6:.3f} us", "memory" if memory > compute else "compute"),
        )
        x = hbm.flops / moved
        ax.plot(x, min(PEAK, BANDWIDTH * x) / 1e12, marker="os^vD"[number], linestyle="none", markersize=8, label=label)
    ax.axvline(PEAK / BANDWIDTH, color="0.6", linewidth=0.8)
    ax.text(PEAK / BANDWIDTH * 0.93, 1.6, f"{PEAK / BANDWIDTH:.0f} FLOP per byte", fontsize=8, ha="right", color="0.3")
    ax.set(xscale="log", yscale="log", xlabel="FLOP per byte of HBM traffic", ylabel="attainable TFLOP/s")
    ax.set_title("Roofline (no caches, no overheads)")
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", fontsize=8)
    console.print(table)
    return figure


FIGURES = {"hw2-traffic": traffic, "hw2-sram": sram, "hw2-access-map": access_map, "hw2-roofline": roofline}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solution", action="store_true", help="use the instructor's module")
    parser.add_argument(
        "--out", type=Path, default=Path("figures"), help="where PNG and SVG files go (default: figures)"
    )
    arguments = parser.parse_args()
    out = figure_folder(arguments.out)
    module = load_module(HERE / MODULE, solution=arguments.solution)
    missing = False
    for name, draw in FIGURES.items():
        try:
            figure = draw(module)
        except NotImplementedError as error:
            console.print(f"{name}: not drawn, {error or 'a function is not written yet'}")
            missing = True
            continue
        for suffix in ("png", "svg"):
            figure.savefig(out / f"{name}.{suffix}", dpi=130)
        console.print(f"{name}: {out / name}.png and .svg")
    if missing:
        console.print(f"Write the missing functions in {MODULE} and run the demo again.")


if __name__ == "__main__":
    main()

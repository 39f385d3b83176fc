"""Tables and figures of hw1, from your own module: traffic of three softmaxes, where they overflow, the merge tree.

python demo.py [--solution] [--out DIR]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from autograder.demos import figure_folder, load_module
from course_lib import Memory
from course_lib.memory import contents

HERE = Path(__file__).resolve().parent
MODULE = "softmax.py"
SOFTMAXES = {"naive": "softmax_naive", "safe": "softmax_safe", "online": "softmax_online"}
STYLE = {"naive": ("o", "-"), "safe": ("s", "--"), "online": ("^", ":")}  # markers carry the meaning, colour only helps
DTYPES = ["float16", "float32"]
console = Console()


def run(function, row, dtype):
    """(y, loads of x, stores of y) of one call."""
    x, y = Memory(row, dtype), Memory(np.zeros(len(row)), dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        function(x, y)
    return contents(y), x.loads, y.stores


def traffic(module):
    """Accesses per element against the length."""
    lengths, rng = [1, 2, 4, 8, 16, 32, 64, 128, 256], np.random.default_rng(0)
    table = Table(title="Accesses per element (N = 256)", caption="contract: 3, 4 and 3 together")
    for column in ("softmax", "loads of x", "stores of y", "together"):
        table.add_column(column, justify="left" if column == "softmax" else "right")
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, function in SOFTMAXES.items():
        per_element = []
        for n in lengths:
            _, loads, stores = run(getattr(module, function), rng.normal(size=n), "float32")
            per_element.append((loads / n, stores / n))
        loads, stores = per_element[-1]
        table.add_row(name, f"{loads:.2f}", f"{stores:.2f}", f"{loads + stores:.2f}")
        marker, line = STYLE[name]
        axes.plot(
            lengths, np.sum(per_element, axis=1), marker=marker, linestyle=line, label=name, markersize=8, alpha=0.8
        )
    axes.set(xscale="log", xlabel="length N", ylabel="accesses per element", ylim=(0, 6), title="Slow-memory traffic")
    axes.set_xticks(lengths, lengths)
    axes.minorticks_off()
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    console.print(table)
    return figure


def wrongness(y, row):
    """Largest error of y for this row: NaN and infinities count as 1."""
    reference = torch.softmax(torch.tensor(row, dtype=torch.float64), 0).numpy()
    return float(np.max(np.where(np.isfinite(y), np.minimum(np.abs(y - reference), 1), 1)))


def overflow(module):
    """Largest error of y = softmax([s, s - 1, s - 2, s - 3]) against the size s of the logits."""
    sizes = np.unique(np.concatenate([np.arange(1, 20, 0.5), np.arange(20, 130, 2)]))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    table = Table(title="First logit at which the result is not finite", caption="exp overflows at 11.09 and 88.72")
    for column in ("softmax", *DTYPES):
        table.add_column(column, justify="left" if column == "softmax" else "right")
    cells = {name: [] for name in SOFTMAXES}
    for ax, dtype in zip(axes, DTYPES):
        for name, function in SOFTMAXES.items():
            errors, first = [], None
            for size in sizes:
                row = np.asarray(size - np.arange(4), dtype)
                y, _, _ = run(getattr(module, function), row, dtype)
                errors.append(max(wrongness(y, row), 1e-9))
                if first is None and not np.isfinite(y).all():
                    first = size
            cells[name].append("never" if first is None else f"{first:g}")
            marker, line = STYLE[name]
            ax.plot(sizes, errors, marker=marker, linestyle=line, markersize=3, label=name)
        limit = np.log(np.finfo(dtype).max)
        ax.axvline(limit, color="black", linewidth=0.8)
        ax.text(limit * 0.96, 2e-9, f"exp overflows above {limit:.1f}", fontsize=8, ha="right")
        ax.set(title=dtype, xlabel="size of the logits", xscale="log", yscale="log", ylim=(1e-9, 3))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("largest error (NaN counts as 1)")
    axes[1].legend(loc="center left")
    for name, row in cells.items():
        table.add_row(name, *row)
    console.print(table)
    return figure


def merge_tree(module):
    """Eight blocks of unequal width become one state; every node shows the largest error of out and lse."""
    torch.manual_seed(0)
    widths, r, d = [3, 1, 6, 2, 5, 4, 1, 8], 4, 3
    S, V = torch.randn(r, sum(widths), dtype=torch.float64) * 4, torch.randn(sum(widths), d, dtype=torch.float64)
    S[:, 9:12] = -torch.inf  # the fourth block and part of the fifth are masked

    figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    start, level = 0, []
    for width in widths:
        columns = slice(start, start + width)
        level.append((columns, module.block_state(S[:, columns], V[columns]), start + width / 2))
        start += width
    height = 0
    while True:
        for columns, state, x in level:
            draw_node(ax, x, height, columns, node_error(module, state, S[:, columns], V[columns]))
        if len(level) == 1:
            break
        merged = []
        for (left, a, xa), (right, b, xb) in zip(level[::2], level[1::2]):
            middle = (xa + xb) / 2
            for x in (xa, xb):
                ax.plot([x, middle], [height + 0.17, height + 0.83], color="0.5", linewidth=1, zorder=0)
            merged.append((slice(left.start, right.stop), module.merge_states(a, b), middle))
        level, height = merged, height + 1
    ax.set(
        xlim=(-1.5, sum(widths) + 1),
        ylim=(-0.5, height + 0.5),
        title="merge_states, block by block: columns and worst error",
    )
    ax.set_yticks(range(height + 1), ["block_state"] + [f"merge {i}" for i in range(1, height + 1)])
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
    return figure


def node_error(module, state, S, V):
    out, lse = (t.detach() for t in module.finalize(state))
    wanted = torch.nan_to_num(torch.softmax(S, 1), nan=0.0) @ V
    wanted_lse = torch.logsumexp(S, 1)
    seen = wanted_lse > -torch.inf
    lse_error = (lse - wanted_lse)[seen].abs().max().item() if seen.any() else 0.0
    return max((out - wanted).abs().max().item(), lse_error)


def draw_node(ax, x, y, columns, error):
    bad = not error < 1e-12
    text = f"{columns.start}:{columns.stop}\n{'wrong ' if bad else ''}{error:.0e}"
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "black", "linestyle": ":" if bad else "-"}
    ax.text(x, y, text, ha="center", va="center", fontsize=8, bbox=box)


FIGURES = {"hw1-traffic": traffic, "hw1-overflow": overflow, "hw1-merge-tree": merge_tree}


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

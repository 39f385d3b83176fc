"""Tables and figures of hw3, from your own module: backward traffic, saved bytes, checkpointing against k.

python demo.py [--solution] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
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
MODULE = "backward.py"
WIDTH = 16
BLOCK = (16, 32)
LENGTHS = [16, 32, 64, 128, 256]
STYLE = {"standard": ("s", "--"), "flash": ("o", "-")}  # markers carry the meaning, colour only helps
FLOAT32 = 4
KIB = 1024
LAYERS, STACK_WIDTH, BATCH = 36, 24, 8
console = Console()


def forward(N, causal=False):
    """What a forward pass leaves behind, by name, for random inputs."""
    Q, K, V, dO = torch.randn(4, N, WIDTH, generator=torch.Generator().manual_seed(N)).unbind(0)
    S = Q @ K.T / math.sqrt(WIDTH)
    if causal:
        S = S.masked_fill(torch.ones(N, N).triu(1).bool(), -math.inf)
    L = torch.logsumexp(S, dim=1)
    P = torch.exp(S - L[:, None])
    return {"Q": Q, "K": K, "V": V, "P": P, "O": P @ V, "dO": dO, "L": L}


NEEDS = {"standard": ("Q", "K", "V", "P"), "flash": ("Q", "K", "V", "O", "L")}


def backward(module, kind, N, causal=False):
    """The device after one backward pass, and the gradients' handles."""
    left, hbm = forward(N, causal), HBM()
    if kind == "standard":
        inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "P", "dO")]
        return hbm, module.standard_attention_backward(hbm, *inputs)
    inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "O", "dO", "L")]
    return hbm, module.flash_attention_backward(hbm, *inputs, block=BLOCK, causal=causal)


def contract(kind, N):
    """Elements read and written, in closed form."""
    d, Tc = WIDTH, np.ceil(N / BLOCK[1])
    if kind == "standard":
        return 7 * N**2 + 8 * N * d
    return 4 * N * d + Tc * (3 * N * d + 2 * N) + N + 3 * N * d + Tc * N * d


def traffic(module):
    """Elements moved by either backward against N: measured points on the closed forms."""
    table = Table(title=f"Elements moved by the backward pass (d = {WIDTH}, block = {BLOCK})")
    for column in ("N", "standard", "contract", "flash", "contract", "flash, causal"):
        table.add_column(column, justify="right")
    measured = {kind: [backward(module, kind, N)[0].accesses for N in LENGTHS] for kind in STYLE}
    causal = [backward(module, "flash", N, causal=True)[0].accesses for N in LENGTHS]
    for row, N in enumerate(LENGTHS):
        cells = [f"{value:,.0f}" for kind in STYLE for value in (measured[kind][row], contract(kind, N))]
        table.add_row(str(N), *cells, f"{causal[row]:,}")
    console.print(table)

    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    fine = np.arange(LENGTHS[0], LENGTHS[-1] + 1)
    for kind, (marker, line) in STYLE.items():
        curve = ax.plot(fine, [contract(kind, N) for N in fine], line, label=f"{kind}: contract")[0]
        ax.plot(LENGTHS, measured[kind], marker, color=curve.get_color(), label=f"{kind}: measured")
    ax.plot(LENGTHS, causal, "^:", color="0.4", label="flash, causal: measured")
    ax.set(xscale="log", yscale="log", xlabel="sequence length N", ylabel="elements read and written")
    ax.set_xticks(LENGTHS, LENGTHS)
    ax.minorticks_off()
    ax.set_title(f"Traffic of the backward pass, d = {WIDTH}, Bc = {BLOCK[1]}")
    ax.legend()
    ax.grid(alpha=0.3)
    return figure


def saved_bytes(module):
    """Bytes of float32 that must stay in HBM from the forward to the backward, and what the backward allocates."""
    table = Table(title="HBM in KiB (float32)", caption="kept: from forward to backward; made: by the backward")
    for column in ("N", "standard kept", "standard made", "flash kept", "flash made"):
        table.add_column(column, justify="right")
    kept, made = {kind: [] for kind in STYLE}, {kind: [] for kind in STYLE}
    for N in LENGTHS:
        left = forward(N)
        for kind in STYLE:
            kept[kind].append(FLOAT32 * sum(left[name].numel() for name in NEEDS[kind]) / KIB)
            made[kind].append(FLOAT32 * backward(module, kind, N)[0].allocated / KIB)
        table.add_row(str(N), *(f"{value[kind][-1]:,.1f}" for kind in STYLE for value in (kept, made)))
    console.print(table)

    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for kind, (marker, line) in STYLE.items():
        curve = ax.plot(LENGTHS, kept[kind], marker + line, label=f"{kind}: kept from the forward")[0]
        ax.plot(
            LENGTHS, made[kind], marker + line, color=curve.get_color(), mfc="none", label=f"{kind}: made", alpha=0.6
        )
    ax.set(xscale="log", yscale="log", xlabel="sequence length N", ylabel="KiB", title="HBM that the backward needs")
    ax.set_xticks(LENGTHS, LENGTHS)
    ax.minorticks_off()
    ax.legend()
    ax.grid(alpha=0.3)
    return figure


def checkpointing(module):
    """Peak activations and layers run again, against the segment length k."""
    torch.manual_seed(0)
    weights = [(torch.randn(STACK_WIDTH, STACK_WIDTH) / math.sqrt(STACK_WIDTH)).requires_grad_() for _ in range(LAYERS)]
    x, grad_out = torch.randn(BATCH, STACK_WIDTH), torch.randn(BATCH, STACK_WIDTH)
    h, _ = module.mlp_stack_forward(x, weights, "all")
    plain = torch.autograd.grad(h, weights, grad_out)
    one = BATCH * STACK_WIDTH
    everything = (LAYERS + 1) * one

    table = Table(title=f"{LAYERS} layers, one activation = {one} elements")
    for column in ("k", "checkpoints", "peak", "peak / plain", "layers run again", "largest difference"):
        table.add_column(column, justify="right")
    ks, peaks, again = list(range(1, LAYERS + 1)), [], []
    for k in ks:
        _, checkpoints = module.mlp_stack_forward(x, weights, k)
        grads, peak, recomputed = module.checkpointed_backward(weights, checkpoints, k, grad_out)
        peaks.append(peak)
        again.append(recomputed)
        if k in (1, 2, 3, 4, 6, 9, 12, 18, 36):
            difference = max(float((a - b).abs().max()) for a, b in zip(grads, plain))
            share = f"{peak / everything:.2f}"
            table.add_row(str(k), str(len(checkpoints)), f"{peak:,}", share, str(recomputed), f"{difference:.0e}")
    console.print(table)

    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    ax.plot(ks, np.array(peaks) / one, "o-", markersize=4, label="peak: checkpoints + largest segment")
    ax.plot(ks, [math.ceil(LAYERS / k) for k in ks], ":", color="0.4", label="checkpoints alone")
    ax.axhline(everything / one, color="black", linewidth=0.8)
    ax.text(LAYERS / 2, everything / one + 0.6, "plain autograd", ha="center", fontsize=8)
    ax.plot(ks, again, "x--", color="tab:red", markersize=4, alpha=0.7, label="layers run again")
    ax.axvline(math.sqrt(LAYERS), color="0.7", linewidth=0.8)
    ax.text(math.sqrt(LAYERS) + 0.3, 1, r"$k = \sqrt{n}$", fontsize=9)
    ax.set(xlabel="segment length k", ylabel="activations, or layers", ylim=(0, LAYERS + 6))
    ax.set_title(f"Checkpointing a stack of n = {LAYERS} layers")
    ax.legend(loc=(0.12, 0.66), fontsize=8)
    ax.grid(alpha=0.3)
    return figure


FIGURES = {"traffic": traffic, "saved_bytes": saved_bytes, "checkpointing": checkpointing}


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

"""Tables and figure of hw6, from your own module: static memory, measured state and activations, reported tables.

python demo.py [--solution] [--out DIR]

Nothing here is large: networks of full size run on tensors without memory (course_lib.at_full_scale).
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
from torch import nn

from autograder.demos import figure_folder, load_module
from course_lib import Block, Row, at_full_scale

HERE = Path(__file__).resolve().parent
MODULE = "memory_budget.py"
GIB, MIB = 2**30, 2**20
WIDTH, HEADS, TOKENS = 4096, 32, 512
MARKERS = "os^D"  # markers carry the meaning, colour only helps
console = Console()


def table(title, *columns, caption=None):
    made = Table(title=title, caption=caption)
    for index, column in enumerate(columns):
        made.add_column(column, justify="right" if index else "left")
    return made


def blocks(module, layers, batch, tokens=TOKENS, attention="fused"):
    """Activation bytes of a stack of transformer blocks of width 4096, float32."""
    return at_full_scale(
        module.activation_bytes,
        lambda: nn.Sequential(*(Block(WIDTH, HEADS, attention=attention) for _ in range(layers))),
        lambda: [torch.randn(batch, tokens, WIDTH)],
    )


# ----------------------------------------------------------------------------------------------------------- tables
def static_table(module):
    """7.0e9 parameters, trained in five ways."""
    total = 7_000_000_000
    recipes = {
        "inference, float16": (total, 0, {}),
        "full, float16 + Adam": (0, total, {}),
        "full, float32 + Adam": (0, total, {"weight": 4, "grad": 4}),
        "the same + float32 master": (0, total, {"master": 4}),
        "LoRA, rank 16": (total, module.lora_parameters(32, 7, 4096, 16), {}),
        "LoRA, rank 64": (total, module.lora_parameters(32, 7, 4096, 64), {}),
    }
    made = table("Static memory of 7.0e9 parameters (GiB = 2^30 bytes)", "recipe", "trainable", "weights", "grads")
    for column in ("optimizer", "master", "total"):
        made.add_column(column, justify="right")
    for name, (frozen, trainable, sizes) in recipes.items():
        parts = module.static_bytes(frozen, trainable, **sizes)
        cells = [f"{parts[part] / GIB:.1f}" for part in ("weights", "grads", "optimizer", "master", "total")]
        made.add_row(name, f"{trainable:,}", *cells)
    console.print(made)


def adam_table(module):
    """What Adam really holds for a 256-256-1 network."""
    network = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(network.parameters())
    parameters = sum(p.numel() for p in network.parameters())
    before = module.optimizer_state_bytes(optimizer)
    network(torch.randn(8, 256)).sum().backward()
    optimizer.step()
    made = table(f"Adam's state for {parameters:,} parameters", "when", "bytes", "beyond two float32 moments")
    made.add_row("before the first step", f"{before:,}", "-")
    after = module.optimizer_state_bytes(optimizer)
    made.add_row("after the first step", f"{after:,}", f"{after - 8 * parameters:,} (step scalars)")
    console.print(made)


def resnet_table(module):
    """ResNet-50 at two batches, and the line through them."""
    try:
        from torchvision.models import resnet50
    except ImportError:
        console.print("ResNet-50: not measured, torchvision is not installed (extra: vision)")
        return
    batches = (16, 32)
    sizes = [
        at_full_scale(module.activation_bytes, resnet50, lambda b=batch: [torch.randn(b, 3, 224, 224)])
        for batch in batches
    ]
    fixed, slope = module.solve_fixed_and_slope(list(zip(batches, sizes)))
    caption = (
        "Adding up every saved tensor counts the output of a ReLU twice: once for itself, once for the next layer."
    )
    made = table(
        "ResNet-50 at 224 x 224, float32 (GiB)", "count", "batch 16", "batch 32", "per sample", caption=caption
    )
    made.add_column("fixed", justify="right")
    made.add_row("each storage once (yours)", *(f"{v / GIB:.3f}" for v in (*sizes, slope)), f"{abs(fixed) / GIB:.3f}")
    made.add_row("each save (as often quoted)", "1.943", "3.885", "0.121", "0.000")
    console.print(made)


def model_table(module):
    """A 7B-like stack, accounted for without its memory."""
    size, weights = blocks(module, 32, 1), 32 * 12 * WIDTH**2
    made = table("32 blocks of width 4096, one sample of 512 tokens", "what", "GiB")
    made.add_row(f"weights of the blocks, float32 ({weights / 1e9:.1f}e9)", f"{4 * weights / GIB:.1f}")
    made.add_row("activations", f"{size / GIB:.2f}")
    made.add_row("activations per token, MiB", f"{size / TOKENS / MIB:.2f}")
    console.print(made)


# ---------------------------------------------------------------------------------------------------------- figure
def grid(module, axes):
    """Activations against layers and batch."""
    layers, batches = (1, 2, 4, 8), (1, 2, 4, 8)
    title = "Activations of blocks of width 4096, 512 tokens, float32, fused attention (MiB)"
    made = table(title, "layers", *(f"batch {b}" for b in batches), "per layer and sample")
    for depth, marker in zip(layers, MARKERS):
        sizes = [blocks(module, depth, batch) for batch in batches]
        each = sizes[-1] / depth / batches[-1] / MIB
        made.add_row(str(depth), *(f"{size / MIB:,.0f}" for size in sizes), f"{each:.2f}")
        axes.plot(batches, [size / GIB for size in sizes], marker=marker, label=f"{depth} layer" + "s" * (depth > 1))
    axes.set(title="Linear in layers and batch", xlabel="batch", ylabel="activations (GiB)", xticks=batches)
    axes.legend()
    console.print(made)


def sequence(module, axes):
    """Fused against hand-written attention, over the length."""
    lengths = [256, 512, 1024, 2048, 4096]
    fused = np.array([blocks(module, 1, 1, n) for n in lengths]) / GIB
    manual = np.array([blocks(module, 1, 1, n, "manual") for n in lengths]) / GIB
    curves = {"fused": fused, "hand-written": manual, "difference": manual - fused}
    exponents = {name: np.polyfit(np.log(lengths), np.log(curve), 1)[0] for name, curve in curves.items()}
    made = table("One block, one sample, over the length (GiB)", "tokens", *curves)
    for row, length in enumerate(lengths):
        made.add_row(str(length), *(f"{curve[row]:.3f}" for curve in curves.values()))
    made.add_row("exponent", *(f"{exponent:.2f}" for exponent in exponents.values()))
    console.print(made)
    for (name, curve), marker, line in zip(curves.items(), MARKERS, ("-", "--", ":")):
        axes.plot(lengths, curve, marker=marker, linestyle=line, label=f"{name}: length^{exponents[name]:.2f}")
    axes.set(title="Attention over the length", xlabel="tokens", ylabel="activations (GiB)", xscale="log", yscale="log")
    axes.set_xticks(lengths, lengths)
    axes.minorticks_off()
    axes.legend()


def reconciled(module, axes):
    """Reported tables against the prediction."""
    per_token = 32 * blocks(module, 1, 1) // TOKENS // 2  # in half precision
    lora = module.static_bytes(7_000_000_000, module.lora_parameters(32, 7, 4096, 16))["total"]
    full = module.static_bytes(0, 7_000_000_000)["total"]
    rows = [
        Row("LoRA A", int(31.5 * GIB), lora, 8, 512),
        Row("LoRA B", int(22.0 * GIB), lora, 4),
        Row("LoRA C", int(17.0 * GIB), lora, 8, 1024),
        Row("full D", int(86.0 * GIB), full, 4, 512),
        Row("full E", int(60.0 * GIB), full, 1),
    ]
    verdicts = module.reconcile(rows, per_token)
    caption = f"{per_token / MIB:.2f} MiB per token; the reports are made up"
    made = table("Reported training memory (GiB)", "report", "reported", "static", "tokens", "label", caption=caption)
    for column in ("residue", "implied tokens"):
        made.add_column(column, justify="right")
    for row, verdict in zip(rows, verdicts):
        tokens = "unknown" if row.tokens is None else str(row.tokens)
        implied = f"{verdict.implied_tokens:,.0f}" if verdict.label == "open" else "-"
        numbers = (f"{row.reported / GIB:.1f}", f"{row.static / GIB:.1f}", tokens)
        made.add_row(row.name, *numbers, verdict.label, f"{verdict.residue / GIB:+.1f}", implied)
    console.print(made)
    places = np.arange(len(rows))
    static = np.array([row.static for row in rows]) / GIB
    moving = np.array([per_token * (row.tokens or 0) * row.batch for row in rows]) / GIB
    axes.bar(places, static, color="0.75", edgecolor="black", label="static")
    axes.bar(places, moving, bottom=static, color="white", edgecolor="black", hatch="//", label="activations")
    axes.plot(places, [row.reported / GIB for row in rows], "D", color="black", label="reported")
    axes.set_xticks(places, [f"{row.name}\n{verdict.label}" for row, verdict in zip(rows, verdicts)], fontsize=8)
    axes.set(title="Reported against predicted", ylabel="GiB", ylim=(0, 115))
    axes.legend(loc="upper left")


TABLES = (static_table, adam_table, resnet_table, model_table)
PANELS = (grid, sequence, reconciled)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solution", action="store_true", help="use the instructor's module")
    parser.add_argument(
        "--out", type=Path, default=Path("figures"), help="where PNG and SVG files go (default: figures)"
    )
    arguments = parser.parse_args()
    out = figure_folder(arguments.out)
    module = load_module(HERE / MODULE, solution=arguments.solution)
    missing = [part for part in TABLES if not attempt(part, module)]
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    for draw, axes in zip(PANELS, panels):
        if not attempt(draw, module, axes):
            missing.append(draw)
            axes.set(title=f"{draw.__name__}: not written yet", xticks=[], yticks=[])
        axes.grid(alpha=0.3)
    for suffix in ("png", "svg"):
        figure.savefig(out / f"hw6-memory.{suffix}", dpi=130)
    console.print(f"hw6-memory: {out / 'hw6-memory'}.png and .svg")
    if missing:
        console.print(f"Write the missing functions in {MODULE} and run the demo again.")


def attempt(part, *arguments):
    """Whether `part` ran; a function that is not written yet is said so and skipped."""
    try:
        part(*arguments)
    except NotImplementedError as error:
        console.print(f"{part.__name__}: not shown, {error or 'a function is not written yet'}")
        return False
    return True


if __name__ == "__main__":
    main()

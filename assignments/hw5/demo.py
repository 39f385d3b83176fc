"""Tables and figures of hw5, from your own module: resuming, weighting by tokens, the packing mask.

python demo.py [--solution] [--out DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch.nn import functional as F

from autograder.demos import figure_folder, load_module
from course_lib import PAD, Plan, fresh, make_data, make_optimizer

HERE = Path(__file__).resolve().parent
MODULE = "training.py"
console = Console()


# -------------------------------------------------------------------------------------------------------------- resume
def resumed(module, forget=None):
    """Losses and final parameters of a run that stops half-way, is saved, and goes on without `forget`."""
    data, plan = make_data(), Plan(total=20, peak=1e-2)
    half = plan.total // 2
    model, optimizer, sampler = fresh(data, plan, seed=1)
    losses = module.advance(model, optimizer, sampler, data, 0, half, plan)
    if forget != "stopping":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.ckpt"
            module.save(path, model, optimizer, sampler, half, data, plan)
            torch.manual_seed(99)  # another process has its generator somewhere else
            model, optimizer, sampler, half = module.restore(path, data, plan)
    if forget == "optimizer":
        optimizer = make_optimizer(model, plan)
    elif forget == "sampler":
        sampler = torch.Generator().manual_seed(2)
    elif forget == "generator":
        torch.manual_seed(99)
    losses += module.advance(model, optimizer, sampler, data, half, plan.total, plan)
    return np.array(losses), torch.nn.utils.parameters_to_vector(model.parameters()).detach()


def resuming(module):
    """One uninterrupted run against four that were stopped after half of the steps."""
    kinds = {None: "everything", "optimizer": "optimizer", "sampler": "sampler", "generator": "generator"}
    losses, parameters = resumed(module, "stopping")
    table = Table(title="A run of 20 steps, stopped and resumed after 10")
    for column in ("restored", "same losses", "same parameters", "largest difference"):
        table.add_column(column, justify="right" if "largest" in column else "left")
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    steps = np.arange(len(losses))
    for (forget, name), style in zip(kinds.items(), ["o", "s--", "^:", "d-."]):
        got, vector = resumed(module, forget)
        same = [bool(np.array_equal(got, losses)), torch.equal(vector, parameters)]
        label = name if forget is None else f"all but the {name}"
        largest = float((vector - parameters).abs().max())
        table.add_row(label, *("yes" if yes else "no" for yes in same), f"{largest:.1e}")
        axes.plot(steps[10:], (got - losses)[10:], style, markersize=5, label=label)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="step", ylabel="loss minus uninterrupted loss", title="Resumed after step 9")
    axes.set_xticks(range(10, 20, 2))
    axes.legend()
    axes.grid(alpha=0.3)
    console.print(table)
    return figure


# ----------------------------------------------------------------------------------------------------------- weighting
def mean_of_means(model, x, y, micro):
    """The wrong weighting, for comparison: microbatches weigh the same, however few targets they have."""
    parts = [(a, b) for a, b in zip(x.split(micro), y.split(micro)) if (b != PAD).any()]
    means = [F.cross_entropy(model(a).flatten(0, 1), b.flatten(), ignore_index=PAD) for a, b in parts]
    mean = torch.stack(means).mean()
    mean.backward()
    return float(mean)


def gradient(accumulate, micro):
    """The whole gradient of one batch as a vector, without dropout."""
    data, plan = make_data(), Plan()
    model, _, _ = fresh(data, plan, seed=3)
    model.eval()
    accumulate(model, data.x[:16], data.y[:16], micro)
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def curve(module, accumulate, micro):
    """Token loss over all data after every step of a run with this accumulation."""
    data, plan = make_data(), Plan(total=30, peak=1e-2, micro=micro)
    model, optimizer, sampler = fresh(data, plan, seed=5)
    seen, kept = [], module.accumulate
    module.accumulate = accumulate
    try:
        for step in range(plan.total):
            module.advance(model, optimizer, sampler, data, step, step + 1, plan)
            model.eval()
            with torch.no_grad():
                logits = model(data.x)
            model.train()
            seen.append(F.cross_entropy(logits.flatten(0, 1), data.y.flatten(), ignore_index=PAD).item())
    finally:
        module.accumulate = kept
    return seen


def weighting(module):
    """Gradients and loss curves under both weightings."""
    whole = gradient(module.accumulate, 16)
    table = Table(title="Gradient of one batch of 16 rows, against the one computed whole")
    for column in ("rows per microbatch", "token-weighted: cosine", "norm", "mean of means: cosine", "norm"):
        table.add_column(column, justify="right")
    for micro in (8, 4, 2, 1):
        cells = []
        for accumulate in (module.accumulate, mean_of_means):
            got = gradient(accumulate, micro)
            cells += [f"{F.cosine_similarity(got, whole, dim=0):.4f}", f"{got.norm() / whole.norm():.4f}"]
        table.add_row(str(micro), *cells)
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for accumulate, name, style in ((module.accumulate, "token-weighted", "-"), (mean_of_means, "mean of means", "--")):
        for micro, marker in ((16, ""), (1, "o")):
            losses = curve(module, accumulate, micro)
            axes.plot(
                losses, style, marker=marker, markersize=4, label=f"{name}, {micro} rows per microbatch", alpha=0.8
            )
    axes.set(xlabel="step", ylabel="token loss over all data", title="What is optimised depends on the weighting")
    axes.legend()
    axes.grid(alpha=0.3)
    console.print(table)
    return figure


# ------------------------------------------------------------------------------------------------------------- packing
def packed(module):
    """Who attends to whom in a row of four documents, which targets count, and the positions."""
    segments = torch.tensor([0] * 5 + [1] * 3 + [2] * 6 + [1] * 3)
    allowed, used, positions = module.packing(segments)
    figure, (mask, row) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    mask.imshow(allowed, cmap="Greys", vmin=0, vmax=1.4)
    mask.set(xlabel="input attended to", ylabel="input", title="allowed")
    n = len(positions)
    row.bar(range(n), positions, color=["0.35" if yes else "white" for yes in used], edgecolor="black")
    for i in range(n):
        row.text(i, float(positions[i]) + 0.1, str(int(segments[i])), ha="center", fontsize=8)
    row.set(xlabel="input", ylabel="position", title="positions (hollow: target not counted)")
    console.print(f"packing: {int(allowed.sum())} of {n * n} pairs, {int(used.sum())} of {n} targets")
    return figure


FIGURES = {"hw5-resume": resuming, "hw5-weighting": weighting, "hw5-packing": packed}


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
    torch.set_num_threads(1)  # small models; and the number of threads can change bits
    main()

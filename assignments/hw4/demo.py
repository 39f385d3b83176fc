"""Tables and figures of hw4, from your own module: five policies, one symbolic graph, graph breaks, what a call costs.

python demo.py [--solution] [--out DIR]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

from autograder.demos import figure_folder, load_module
from course_lib import (
    Compiler,
    F,
    LayerConfig,
    LazyRunner,
    codegen,
    decode_layer,
    layer_params,
    layer_shapes,
    optimize,
    rope_tables,
    run,
    trace,
    while_loop,
)

HERE = Path(__file__).resolve().parent
MODULE = "compile_cache.py"
POLICIES = ["exact", "pow2", "mult128", "symbolic", "automatic"]
STYLE = {"exact": "-", "pow2": "--", "mult128": ":", "symbolic": "-.", "automatic": (0, (1, 3))}
COLOUR = {policy: f"C{n}" for n, policy in enumerate(POLICIES)}
SMALL = LayerConfig(d=8, heads=4, kv_heads=2, head_dim=4, ffn=16)
LARGE = LayerConfig(d=256, heads=8, kv_heads=4, head_dim=32, ffn=704)
PROMPT, STEPS = 100, 512
console = Console()


def table_of(title, *columns, caption=None):
    table = Table(title=title, caption=caption)
    for n, column in enumerate(columns):
        table.add_column(column, justify="left" if n == 0 else "right")
    return table


# ------------------------------------------------------------------------------------------------------- five policies
class TimedCompiler(Compiler):
    """A device that also keeps the time its compilations took."""

    seconds = 0.0

    def compile(self, S, masked=False):
        begun = time.perf_counter()
        try:
            return super().compile(S, masked)
        finally:
            self.seconds += time.perf_counter() - begun


def decode(module, policy):
    """512 steps from a prompt of 100: device, cache, outputs, compilations after every step, seconds."""
    rng, compiler = np.random.default_rng(0), TimedCompiler(SMALL)
    cache = module.CompileCache(compiler, policy)
    k, v = (rng.normal(size=(SMALL.kv_heads, PROMPT, SMALL.head_dim)) for _ in range(2))
    slot = np.full((SMALL.kv_heads, 1, SMALL.head_dim), np.nan)
    outputs, compiled, begun = [], [], time.perf_counter()
    for S in range(PROMPT + 1, PROMPT + STEPS + 1):
        cos, sin = rope_tables(1, SMALL.head_dim, start=S - 1)
        k, v = np.concatenate([k, slot], axis=1), np.concatenate([v, slot], axis=1)
        y, k, v = cache(rng.normal(size=(1, SMALL.d)), k, v, cos, sin)
        outputs.append(y)
        compiled.append(compiler.compiles)
    return compiler, cache, np.array(outputs), compiled, time.perf_counter() - begun


def policies(module):
    """Compilations, compile time, padding and agreement of the five policies."""
    results = {policy: decode(module, policy) for policy in POLICIES}
    table = table_of(
        f"{STEPS} decode steps from a prompt of {PROMPT}",
        "policy", "compiled", "compile time", "of the run", "waste", "difference",
        caption="compile time as a multiple of the symbolic policy's, difference against exact",
    )  # fmt: skip
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    lengths = np.arange(PROMPT + 1, PROMPT + STEPS + 1)
    for policy, (compiler, cache, outputs, compiled, seconds) in results.items():
        difference = np.max(np.abs(outputs - results["exact"][2]))
        times = compiler.seconds / results["symbolic"][0].seconds
        table.add_row(
            policy, str(compiler.compiles), f"{times:.1f} x", f"{compiler.seconds / seconds:.0%}",
            f"{cache.waste:.1%}", f"{difference:.0e}",
        )  # fmt: skip
        left.plot(lengths, compiled, COLOUR[policy], linestyle=STYLE[policy], linewidth=2, label=policy)
    left.set(yscale="log", xlabel="KV length S", ylabel="compilations so far", title="Compilations", ylim=(0.8, 900))
    left.legend(fontsize=8)
    for policy in ("pow2", "mult128"):
        keys = np.array([module.bucket_key(policy, int(S)) for S in lengths])
        right.plot(lengths, keys / lengths - 1, COLOUR[policy], linestyle=STYLE[policy], linewidth=2, label=policy)
    right.set(xlabel="KV length S", ylabel="padded / real - 1", title="Padding of one step")
    right.legend(fontsize=8)
    for ax in (left, right):
        ax.grid(alpha=0.3)
    console.print(table)
    return figure


# -------------------------------------------------------------------------------------------------- one symbolic graph
def layer_graph(config, length):
    return trace(decode_layer(config, "P"), layer_shapes(config, length), layer_params(config))


def layer_inputs(config, S):
    rng = np.random.default_rng(S)
    cos, sin = rope_tables(1, config.head_dim, start=S - 1)
    cache = (config.kv_heads, S, config.head_dim)
    shapes = {"x": (1, config.d), "k_cache": cache, "v_cache": cache}
    return {**{name: rng.normal(size=shape) for name, shape in shapes.items()}, "cos": cos, "sin": sin}


def symbolic(module):
    """What the passes do to the layer, and the symbolic graph against exact ones."""
    graph, records = optimize(layer_graph(SMALL, "S"))
    table = table_of("Operations of the decode layer, pass by pass", "pass", "before", "after")
    for record in records:
        if record.changed:
            table.add_row(record.name, str(record.before), str(record.after))
    console.print(table)
    table = table_of("One symbolic graph against exact graphs", "S", "max difference", "flops of the symbolic graph")
    for S in (2, 7, 64, 500):
        inputs = layer_inputs(SMALL, S)
        exact = run(layer_graph(SMALL, S), inputs, {"P": S - 1})
        got = run(graph, inputs, {"S": S, "P": S - 1})
        difference = max(np.max(np.abs(one - other)) for one, other in zip(got, exact))
        table.add_row(str(S), f"{difference:.0e}", f"{graph.specialized({'S': S}).flops():,}")
    console.print(table)
    console.print(
        f"guards, for example: {', '.join(str(guard) for guard in graph.guards if '.ndim' not in str(guard))}"
    )
    return graph


# -------------------------------------------------------------------------------------------------------- graph breaks
def turn(x, A):
    return F.tanh(F.matmul(A, x)) + 1.0


def python_loop(x, A):
    """Iterate until x stands still; Python looks at the change in every turn."""
    while True:
        following = turn(x, A)
        if F.max(F.abs(following - x)) < 1e-10:
            return following
        x = following


def one_graph(x, A):
    """The same with structured control flow."""

    def body(x, change):
        following = turn(x, A)
        return following, F.max(F.abs(following - x))

    return while_loop(lambda x, change: F.greater(change, 1e-10), body, x, F.max(F.abs(x)) + 1.0)[0]


def breaks(module):
    """Graphs that a lazy runner needs for a convergence loop."""
    rng = np.random.default_rng(0)
    A, start = rng.normal(size=(4, 4)) * 0.3, np.zeros((4, 1))
    table = table_of(
        "A loop until convergence, evaluated lazily", "program", "graphs", "operations", "result differs by"
    )
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for row, (name, program) in enumerate({"python while": python_loop, "while_loop": one_graph}.items()):
        lazy = LazyRunner()
        result = program(lazy.array(start), A).numpy()
        difference = np.max(np.abs(result - program(start, A)))
        table.add_row(name, str(len(lazy.graphs)), str(sum(lazy.graphs)), f"{difference:.0e}")
        edges = np.concatenate([[0], np.cumsum(lazy.graphs)])
        hatch = ["", "//"][row]
        box = {"color": "#dbe9f6", "edgecolor": "black", "hatch": hatch, "linewidth": 0.8}
        axes.barh([row] * len(lazy.graphs), lazy.graphs, left=edges[:-1], height=0.5, **box)
        axes.text(
            edges[-1] + 1, row, f"{len(lazy.graphs)} graph{'s' * (len(lazy.graphs) > 1)}", va="center", fontsize=9
        )
    axes.set_yticks([0, 1], ["python while", "while_loop"])
    axes.invert_yaxis()
    axes.set(xlabel="operations compiled (one box is one graph)", title="Every look at a number breaks the graph")
    axes.set_xlim(0, axes.get_xlim()[1] * 1.12)
    console.print(table)
    return figure


# ------------------------------------------------------------------------------------------------- what one call costs
def matmuls_only(graph, bind):
    """A function that does the graph's matmuls and nothing else, on random operands."""
    rng, pairs = np.random.default_rng(0), []
    exact = graph.specialized(bind)
    for node in exact.nodes:
        if node.op == "matmul":
            pairs.append([rng.normal(size=exact.nodes[arg].shape) for arg in node.args])

    def call():
        for a, b in pairs:
            a @ b

    return call


def seconds_per_call(functions, rounds=15, calls=20):
    """Median seconds per call of every function, measured in turns so that all of them see the same machine."""
    samples = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            begun = time.perf_counter()
            for _ in range(calls):
                function()
            samples[name].append((time.perf_counter() - begun) / calls)
    return {name: float(np.median(values)) for name, values in samples.items()}


def call_cost(module):
    """Eager, interpreted and generated code on the same inputs, beside the matmuls alone."""
    S = 512
    inputs, params, bind = layer_inputs(LARGE, S), layer_params(LARGE), {"S": S, "P": S - 1}
    traced = layer_graph(LARGE, "S")
    graph, _ = optimize(traced)
    layer, (_, generated), (_, unoptimised) = decode_layer(LARGE, S - 1), codegen(graph), codegen(traced)
    functions = {
        "eager": lambda: layer(**inputs, **params),
        "interpreted": lambda: run(graph, inputs, bind),
        "generated, not optimised": lambda: unoptimised(inputs, bind),
        "generated": lambda: generated(inputs, bind),
        "matmuls only": matmuls_only(graph, {"S": S}),
    }
    seconds = seconds_per_call(functions)
    bound = seconds["matmuls only"]
    table = table_of(f"One decode step at S = {S}", "how", "times the matmuls", "share of eager")
    for name, value in seconds.items():
        table.add_row(name, f"{value / bound:.1f} x", f"{value / seconds['eager']:.0%}")
    console.print(table)
    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    bars = axes.barh(list(seconds), [value / bound for value in seconds.values()], color="#f9d9b0", edgecolor="black")
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=9)
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--")
    axes.invert_yaxis()
    axes.set(xlabel="time of one call, in units of its matmuls", title="What is left to gain")
    axes.set_xlim(0, 1.12 * max(value / bound for value in seconds.values()))
    return figure


FIGURES = {"hw4-policies": policies, "hw4-symbolic": symbolic, "hw4-breaks": breaks, "hw4-call-cost": call_cost}


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
    for name, make in FIGURES.items():
        try:
            drawing = make(module)
        except NotImplementedError as error:
            console.print(f"{name}: not drawn, {error or 'a function is not written yet'}")
            missing = True
            continue
        for suffix in ("png", "svg"):
            path = out / f"{name}.{suffix}"
            if hasattr(drawing, "savefig"):
                drawing.savefig(path, dpi=130)
            else:
                drawing.draw(path)
        console.print(f"{name}: {out / name}.png and .svg")
    if missing:
        console.print(f"Write the missing functions in {MODULE} and run the demo again.")


if __name__ == "__main__":
    main()

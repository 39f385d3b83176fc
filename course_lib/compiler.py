"""The metered compile device of hw4: it compiles a decode layer for a cache length, runs it, and counts both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Self, SupportsIndex, TypeAlias

import numpy as np

from course_lib._device import Device, DeviceView, Link, ProtocolViolation
from course_lib.compiler_requests import (
    SYMBOL,
    Length,
    are_inputs,
    checked_bind,
    checked_inputs,
    checked_length,
    is_bind,
    is_length,
)
from course_lib.graph import (
    Graph,
    GuardError,
    LayerConfig,
    decode_layer,
    layer_params,
    layer_shapes,
    optimize,
    trace,
)
from course_lib.graph.codegen import generate
from course_lib.graph.guards import Guard
from course_lib.graph.interpret import check
from course_lib.graph.kernels import Array

__all__ = ["Compiler", "Executable", "run_log"]

Outputs: TypeAlias = tuple[Array, Array, Array]

MAX_COMPILES = 4096
"""Graphs one device keeps: eight times what the exact policy needs for the longest run of the exercise."""

_SIZES = ("d", "heads", "kv_heads", "head_dim", "ffn")


class Compiler(Device):
    """Compiles one decode step of a Llama-style layer (`decode_layer`) and counts compilations and runs.

    `config` gives the sizes of the layer, `seed` its weights. With `optimize=False` the layer is traced once for the
    symbol "S", not optimised, and an integer length is a specialisation of that graph: the same values to 1e-12, for a
    small part of the time.

    While you develop, the layer is compiled and run in your process. While you are graded, both happen in another
    process: `compile` returns a handle, arrays go there and come back by value, and the counts are kept there. Both
    kinds behave alike.

    Source: Ansel et al., PyTorch 2, ASPLOS 2024, the section on symbolic shapes and guards.
    """

    kind = "compiler"

    def __init__(self, config: LayerConfig, *, seed: int = 0, optimize: bool = True) -> None:
        self._config = config
        self._back: _Local | _Remote = _Local(config, seed, optimize)

    @property
    def config(self) -> LayerConfig:
        """The sizes of the layer."""
        return self._config

    @property
    def compiles(self) -> int:
        """Compilations so far, whoever asked for them."""
        return self._back.count("compiles")

    @property
    def runs(self) -> int:
        """Runs that delivered a result."""
        return self._back.count("runs")

    @property
    def guard_errors(self) -> int:
        """Runs that were refused because a guard did not hold, caught or not."""
        return self._back.count("guard_errors")

    @property
    def log(self) -> list[tuple[Length, bool]]:
        """(length, masked) of every compilation, oldest first."""
        return self._back.log()

    def compile(self, S: SupportsIndex | str, masked: bool = False) -> Executable:
        """Trace and optimise the layer for a KV cache of length `S`; counts one compilation.

        `S` is an int of at least 1, or the symbol "S": then one graph serves every length of at least 2. A `masked`
        graph takes one more input, kmask (1, 1, S), which is added to the attention scores.

        Raises ValueError for a length below 1 or another symbol, TypeError for what is no integer.
        """
        if not isinstance(masked, bool | np.bool_):
            raise TypeError(f"masked is True or False, not {type(masked).__name__}")
        return Executable(self, self._back.compile(checked_length(S), bool(masked)))

    def __reduce_ex__(self, _: SupportsIndex) -> NoReturn:
        raise TypeError("a compile device cannot be copied or pickled: two caches may share it as it is")

    def __repr__(self) -> str:
        return f"<Compiler of a layer with d={self._config.d}>"

    def _outcome(self) -> list[Any]:
        """Nothing is kept in a compiler; what tells two programs apart is what they compiled and how often it ran."""
        return [[], [list(entry) for entry in self.log], self.runs, self.guard_errors]

    def _describe(self) -> dict[str, Any]:
        return {name: getattr(self._config, name) for name in _SIZES}

    @classmethod
    def _attach(cls, link: Link, description: dict[str, Any]) -> Self:
        compiler = cls.__new__(cls)
        compiler._config = LayerConfig(**description)
        compiler._back = _Remote(link)
        return compiler

    def _view(self, state: Any) -> Executable:
        if isinstance(self._back, _Local):
            self._known(state)
        return Executable(self, state)

    def _known(self, number: Any) -> int:
        if type(number) is not int or not 0 <= number < _local(self).count("compiles"):
            raise ProtocolViolation("there is no executable with this number")
        return number

    def _serve(self, op: str, args: tuple[Any, ...]) -> Any:
        # The remote class validates before it sends, so whatever does not fit here did not come from it.
        back = _local(self)
        match op, args:
            case "compiles" | "runs" | "guard_errors", ():
                return back.count(op)
            case "log", ():
                return back.log()
            case "guards", (number,):
                return back.guards(self._known(number))
            case "compile", (S, masked) if type(masked) is bool and is_length(S):
                return back.compile(S, masked)
            case "run", (number, inputs, bind) if are_inputs(inputs) and is_bind(bind):
                return back.run(self._known(number), inputs, bind)
        raise ProtocolViolation("a compile device cannot serve this request")


class Executable(DeviceView):
    """A compiled decode step, made by `compiler.compile`. Calling it runs it on the device."""

    def __init__(self, compiler: Compiler, number: int) -> None:
        self._compiler = compiler
        self._number = number

    @property
    def length(self) -> Length:
        """The cache length it was compiled for: an int, or "S"."""
        return self._compiler.log[self._number][0]

    @property
    def masked(self) -> bool:
        """Whether it takes kmask."""
        return self._compiler.log[self._number][1]

    @property
    def guards(self) -> list[str]:
        """What it assumes of its inputs, as text: `k_cache.shape[1] == 128`, `P < S`."""
        return self._compiler._back.guards(self._number)

    def __call__(self, inputs: Mapping[str, Array], bind: Mapping[str, int]) -> Outputs:
        """One decode step: (y (1, d), k_cache, v_cache (kv_heads, S, head_dim)), new arrays; counts one run.

        `inputs` by name, float64 numpy arrays, none of which is changed: x (1, d); k_cache and v_cache of the length
        the graph was compiled for; cos and sin (1, 1, head_dim); kmask (1, 1, S) for a masked graph. `bind` gives P,
        the slot of the cache that the new token is written to, and S for a symbolic graph.

        Raises GuardError, naming dimension, guard and value, where a shape or P breaks a guard; ValueError for a
        missing or unknown input or symbol; TypeError for anything but numpy float64 arrays and integers.
        """
        return self._compiler._back.run(self._number, checked_inputs(inputs), checked_bind(bind))

    def __repr__(self) -> str:
        return f"<Executable {self._number}>"

    @property
    def _device(self) -> Compiler:
        return self._compiler

    def _state(self) -> int:
        return self._number


def run_log(compiler: Compiler) -> list[tuple[Length, bool]]:
    """For authors of checks: (length, masked) of the executable of every run, oldest first.

    Raises TypeError for a device that is held elsewhere.
    """
    back = _local(compiler)
    compiled = back.log()
    return [compiled[number] for number in back.ran]


class _Local:
    """The compiled graphs and their ledger, in this process."""

    def __init__(self, config: LayerConfig, seed: int, optimized: bool) -> None:
        self._config, self._optimized = config, optimized
        self._params = layer_params(config, seed)
        self._compiled: list[_Compiled] = []
        self._symbolic: dict[bool, _Compiled] = {}  # by masked; what is specialised when nothing is optimised
        self._refused = 0
        self.ran: list[int] = []

    def count(self, what: str) -> int:
        return {"compiles": len(self._compiled), "runs": len(self.ran), "guard_errors": self._refused}[what]

    def log(self) -> list[tuple[Length, bool]]:
        return [(one.length, one.masked) for one in self._compiled]

    def guards(self, number: int) -> list[str]:
        return [str(guard) for guard in self._compiled[number].graph.guards]

    def compile(self, length: Length, masked: bool) -> int:
        if len(self._compiled) >= MAX_COMPILES:
            raise RuntimeError(f"this device keeps {MAX_COMPILES} graphs and has compiled that many")
        cheap = not self._optimized and length not in (1, SYMBOL)  # no graph with symbols holds for 1
        self._compiled.append(self._specialized(length, masked) if cheap else self._built(length, masked))
        return len(self._compiled) - 1

    def _built(self, length: Length, masked: bool) -> _Compiled:
        layer = decode_layer(self._config, "P", masked)
        graph = trace(layer, layer_shapes(self._config, length, masked), self._params)
        if self._optimized:
            graph, _ = optimize(graph)
        return _Compiled(length, masked, graph, generate(graph)[1])

    def _specialized(self, length: Length, masked: bool) -> _Compiled:
        if masked not in self._symbolic:
            self._symbolic[masked] = self._built(SYMBOL, masked)
        symbolic = self._symbolic[masked]
        return _Compiled(length, masked, symbolic.graph.specialized({SYMBOL: int(length)}), symbolic.function)

    def run(self, number: int, inputs: dict[str, Array], bind: dict[str, int]) -> Outputs:
        try:
            outputs = self._compiled[number](inputs, bind)
        except GuardError:
            self._refused += 1
            raise
        self.ran.append(number)
        return outputs


@dataclass(frozen=True)
class _Compiled:
    """One graph with what it was compiled for; `function` computes it, given a value for every symbol."""

    length: Length
    masked: bool
    graph: Graph
    function: Callable[..., Outputs]

    def __call__(self, inputs: dict[str, Array], bind: dict[str, int]) -> Outputs:
        for symbol in bind:
            if symbol not in (SYMBOL, "P"):
                raise ValueError(f"unknown symbol {symbol!r} in bind: P, and S for a symbolic graph")
        if isinstance(self.length, int):  # S is known; naming it is not needed, but must not contradict the graph
            Guard(SYMBOL, "==", self.length).check({SYMBOL: self.length, **bind}, bind)
            bind = {SYMBOL: self.length, **bind}
        check(self.graph, inputs, bind)
        with np.errstate(all="ignore"):
            return self.function(inputs, bind)


class _Remote:
    """The same interface, served and counted by the process that owns the graphs."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def count(self, what: str) -> int:
        return int(self._link.request(what))

    def log(self) -> list[tuple[Length, bool]]:
        return [(length, masked) for length, masked in self._link.request("log")]

    def guards(self, number: int) -> list[str]:
        return list(self._link.request("guards", number))

    def compile(self, length: Length, masked: bool) -> int:
        return int(self._link.request("compile", length, masked))

    def run(self, number: int, inputs: dict[str, Array], bind: dict[str, int]) -> Outputs:
        y, k_cache, v_cache = self._link.request("run", number, inputs, bind)
        return y, k_cache, v_cache


def _local(compiler: Compiler) -> _Local:
    if not isinstance(compiler._back, _Local):
        raise TypeError("this compile device is held by another process")
    return compiler._back

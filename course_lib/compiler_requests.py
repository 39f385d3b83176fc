"""What may be asked of a compile device: honest mistakes are explained, what no honest handle sends is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, TypeAlias

import numpy as np

from course_lib.graph.kernels import Array

Length: TypeAlias = int | str

SYMBOL = "S"
MAX_LENGTH = 1 << 62


# ------------------------------------------------------------------------------------------ honest mistakes, both kinds
def checked_length(S: Any) -> Length:
    """What `compile` was asked for: an int of at least 1, or "S"."""
    if isinstance(S, str):
        if S != SYMBOL:
            raise ValueError(f"a graph is compiled for an integer or for the symbol 'S', not for {S[:40]!r}")
        return SYMBOL
    length = _integer("the length of a cache", S)
    if not 1 <= length <= MAX_LENGTH:
        raise ValueError(f"a cache has at least the slot of the new token: length {length} is not possible")
    return length


def _integer(what: str, number: Any) -> int:
    if isinstance(number, bool | np.bool_):
        raise TypeError(f"{what} is an integer, not a bool")
    try:
        return index(number)
    except TypeError:
        raise TypeError(f"{what} is an integer, not {type(number).__name__}") from None


def checked_inputs(inputs: Any) -> dict[str, Array]:
    """The arrays by name, as plain float64 arrays."""
    if not isinstance(inputs, Mapping):
        raise TypeError(f"inputs is a dict of arrays by name, not {type(inputs).__name__}")
    return {_name("inputs", name): _array(name, value) for name, value in inputs.items()}


def _name(what: str, name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the keys of {what} are names, not {type(name).__name__}")
    return str(name)


def _array(name: str, value: Any) -> Array:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"input {name!r} is a numpy array of float64, not {type(value).__name__}")
    if value.dtype != np.float64:
        raise TypeError(f"input {name!r} is a numpy array of float64, not of {value.dtype}")
    return np.asarray(value, dtype=np.float64)


def checked_bind(bind: Any) -> dict[str, int]:
    """The integers by symbol, as Python ints."""
    if not isinstance(bind, Mapping):
        raise TypeError(f"bind is a dict of integers by symbol, not {type(bind).__name__}")
    bound = {_name("bind", name): _integer(f"symbol {name!r}", value) for name, value in bind.items()}
    for name, value in bound.items():
        if abs(value) > MAX_LENGTH:
            raise ValueError(f"symbol {name!r} is out of range")
    return bound


# ----------------------------------------------------------------------------------------------------- hostile requests
def is_length(S: Any) -> bool:
    """Whether `checked_length` could have returned it."""
    return S == SYMBOL if type(S) is str else type(S) is int and 1 <= S <= MAX_LENGTH


def are_inputs(inputs: Any) -> bool:
    """Whether `checked_inputs` could have returned them."""
    return type(inputs) is dict and all(
        type(name) is str and type(value) is np.ndarray and value.dtype == np.float64 for name, value in inputs.items()
    )


def is_bind(bind: Any) -> bool:
    """Whether `checked_bind` could have returned it."""
    return type(bind) is dict and all(
        type(name) is str and type(value) is int and abs(value) <= MAX_LENGTH for name, value in bind.items()
    )

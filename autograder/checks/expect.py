"""Judging what came back: every comparison a check makes, with the tolerance policy of the exercises.

Values arrive as plain numpy, torch and Python objects rebuilt by `autograder.wire`, so that no class of the student
takes part in a comparison. Their type, shape and dtype are still the student's and are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from autograder.errors import CheckFailed
from autograder.record import Message, TooMuch, WrongType, WrongValue

Wide = NDArray[np.float64]


def fail(message: str, **details: object) -> NoReturn:
    """Fail the check with a fact; `details` are shown for visible checks only."""
    raise CheckFailed(Message(message, {key: str(value)[:300] for key, value in details.items()}))


def that(condition: bool | np.bool_, message: str, **details: object) -> None:
    """Fail with `message` unless `condition`."""
    if not condition:
        fail(message, **details)


# -------------------------------------------------------------------------------------------------------------- types
def describe(value: Any) -> str:
    """A value's type in a student's words, without its contents."""
    if value is None:
        return "None"
    if _is_tensor(value) or isinstance(value, np.ndarray):
        kind = "tensor" if _is_tensor(value) else "array"
        return f"{str(value.dtype).removeprefix('torch.')} {kind} of shape {tuple(value.shape)}"
    if isinstance(value, list | tuple | dict):
        return f"{type(value).__name__} of length {len(value)}"
    if type(value).__name__ == "Reference":
        return repr(value)
    return type(value).__name__


def _is_tensor(value: Any) -> bool:
    return type(value).__module__ == "torch" and type(value).__name__ == "Tensor"


def _wrong_type(name: str, expected: str, got: Any) -> NoReturn:
    raise CheckFailed(WrongType(name, expected, describe(got)))


def tensor(name: str, got: Any, *, shape: Iterable[int] | None = None, dtype: Any = None) -> Any:
    """`got` as a torch.Tensor of that shape and dtype."""
    wanted = "tensor" if dtype is None else f"{str(dtype).removeprefix('torch.')} tensor"
    if shape is not None:
        shape = tuple(shape)
        wanted += f" of shape {shape}"
    if not _is_tensor(got):
        _wrong_type(name, wanted, got)
    if (shape is not None and tuple(got.shape) != shape) or (dtype is not None and got.dtype != dtype):
        _wrong_type(name, wanted, got)
    return got.detach()


def array(name: str, got: Any, *, shape: Iterable[int] | None = None, dtype: Any = None) -> NDArray[Any]:
    """`got` (array, tensor or number) as a numpy array of that shape and dtype."""
    if _is_tensor(got):
        torch_only = str(got.dtype) == "torch.bfloat16"
        got = (got.detach().float() if torch_only else got.detach()).numpy()
    if type(got) in (bool, int, float) or isinstance(got, np.generic):
        got = np.asarray(got)
    if isinstance(got, list | tuple) and _numeric(got):
        got = np.asarray(got)
    wanted = "array" if dtype is None else f"{np.dtype(dtype)} array"
    if shape is not None:
        shape = tuple(shape)
        wanted += f" of shape {shape}"
    if type(got) is not np.ndarray or got.dtype.kind not in "biufc":
        _wrong_type(name, wanted, got)
    if (shape is not None and got.shape != shape) or (dtype is not None and got.dtype != np.dtype(dtype)):
        _wrong_type(name, wanted, got)
    return got


def _numeric(items: Iterable[Any]) -> bool:
    """Whether a list holds numbers only (no nesting), so that it stands for a vector."""
    return all(type(item) in (bool, int, float) or isinstance(item, np.generic) for item in items)


def number(name: str, got: Any) -> float:
    """`got` as a float: a Python or numpy number, or a tensor / array of one element without dimensions."""
    if (_is_tensor(got) or isinstance(got, np.ndarray)) and got.ndim == 0:
        got = got.item()
    if isinstance(got, np.generic):
        got = got.item()
    if type(got) not in (int, float):
        _wrong_type(name, "number", got)
    try:
        return float(got)
    except OverflowError:
        return float("inf") if got > 0 else float("-inf")


def integer(name: str, got: Any) -> int:
    """`got` as an int: a Python or numpy integer, never a bool or a float."""
    if isinstance(got, np.integer):
        return int(got)
    if type(got) is not int:
        _wrong_type(name, "int", got)
    return got


def text(name: str, got: Any) -> str:
    if type(got) is not str:
        _wrong_type(name, "str", got)
    return got


def boolean(name: str, got: Any) -> bool:
    """`got` as a bool: a Python or numpy bool."""
    if isinstance(got, np.bool_):
        return bool(got)
    if type(got) is not bool:
        _wrong_type(name, "bool", got)
    return got


def sequence(name: str, got: Any, length: int | None = None) -> list[Any]:
    """`got` as a list of that length: a list, a tuple or a NamedTuple."""
    wanted = "sequence" if length is None else f"sequence of {length}"
    if not isinstance(got, list | tuple):
        _wrong_type(name, wanted, got)
    if length is not None and len(got) != length:
        _wrong_type(name, wanted, got)
    return list(got)


def mapping(name: str, got: Any, keys: Iterable[str] | None = None) -> dict[Any, Any]:
    """`got` as a dict with exactly these keys."""
    if type(got) is not dict:
        _wrong_type(name, "dict", got)
    if keys is not None and set(got) != set(keys):
        missing, surplus = sorted(set(keys) - set(got)), len(set(got) - set(keys))
        found = f"without {', '.join(missing)}" if missing else f"with {surplus} more"
        raise CheckFailed(WrongType(name, f"dict with the keys {', '.join(sorted(keys))}", f"dict {found}"))
    return got


# ------------------------------------------------------------------------------------------------------------- values
def close(
    name: str,
    got: Any,
    reference: Any,
    *,
    baseline: Any = None,
    logits: float = 0.0,
    k: float = 8.0,
    floor_eps: float = 8.0,
    dtype: Any = None,
) -> None:
    """`got` agrees with the float64 `reference` within the error budget of the exercises.

    The budget is `k` times the largest error of `baseline`, a naive computation in the submission's precision (finite
    entries), plus `(floor_eps + 4 * logits) * eps * max|reference|`, with `logits` the largest absolute logit (of which
    a running log-sum-exp legitimately costs a few eps) and eps that of `dtype` (default: got's). NaN and infinities
    must stand where the reference has them.
    """
    wanted = _wide(reference)
    plain = array(name, got, shape=wanted.shape)
    if plain.dtype.kind == "c":
        _wrong_type(name, "real numbers", got)
    measured = _wide(plain)
    _same_class(name, measured, wanted, np.isnan, "nan")
    _same_class(name, measured, wanted, lambda a: np.isinf(a) * np.sign(np.nan_to_num(a)), "infinity")
    finite = np.isfinite(wanted)
    if not finite.any():
        return
    eps = _eps(plain if dtype is None else np.empty(0, _numpy_dtype(dtype)))
    budget = (floor_eps + 4 * logits) * eps * float(np.max(np.abs(wanted[finite])))
    if baseline is not None:
        error = np.abs(_wide(baseline) - wanted)[finite]
        error = error[np.isfinite(error)]
        budget += k * (float(error.max()) if error.size else 0.0)
    difference = np.where(finite, np.abs(np.where(finite, measured, 0.0) - np.where(finite, wanted, 0.0)), 0.0)
    if float(difference.max()) > budget:
        _report(name, "error", measured, wanted, difference, difference > budget, float(budget))


def _wide(value: Any) -> Wide:
    if _is_tensor(value):
        value = value.detach().double().numpy()
    return np.asarray(value, dtype=np.float64)


def _numpy_dtype(dtype: Any) -> Any:
    return str(dtype).removeprefix("torch.") if "torch" in str(dtype) else dtype


def _eps(value: NDArray[Any]) -> float:
    return float(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else float(np.finfo(np.float64).eps)


def _same_class(name: str, got: Wide, wanted: Wide, classify: Any, problem: Any) -> None:
    differs = np.asarray(classify(got) != classify(wanted))
    if differs.any():
        _report(name, problem, got, wanted, differs.astype(np.float64), differs, None)


def _report(name: str, problem: Any, got: Wide, wanted: Wide, size: Wide, wrong: Any, budget: float | None) -> NoReturn:
    worst = np.unravel_index(int(np.argmax(size)), size.shape)
    raise CheckFailed(
        WrongValue(
            name=name,
            problem=problem,
            wrong=int(np.sum(wrong)),
            size=int(size.size),
            where=[int(i) for i in worst],
            expected=float(wanted[worst]),
            got=float(got[worst]),
            error=None if budget is None else float(size[worst]),
            budget=budget,
        )
    )


def equal(name: str, got: Any, wanted: Any) -> None:
    """`got` is exactly `wanted`: type class, shape, dtype and bits; containers element by element.

    int accepts numpy integers, float accepts numpy floats; bool is not int; tuple and list are alike.
    """
    if isinstance(wanted, bool | np.bool_):
        _exact(name, boolean(name, got), bool(wanted))
    elif isinstance(wanted, int | np.integer):
        _exact(name, integer(name, got), int(wanted))
    elif isinstance(wanted, float | np.floating):
        value = number(name, got)
        if value != wanted and not (np.isnan(value) and np.isnan(wanted)):
            _differ(name, value, float(wanted))
    elif isinstance(wanted, str):
        _exact(name, text(name, got), wanted)
    elif isinstance(wanted, list | tuple):
        for index, (item, other) in enumerate(zip(sequence(name, got, len(wanted)), wanted)):
            equal(f"{name}[{index}]", item, other)
    elif isinstance(wanted, Mapping):
        items = mapping(name, got, wanted.keys())
        for key, other in wanted.items():
            equal(f"{name}[{key!r}]", items[key], other)
    elif wanted is None:
        if got is not None:
            _wrong_type(name, "None", got)
    else:
        _equal_arrays(name, got, wanted)


def _exact(name: str, got: Any, wanted: Any) -> None:
    if got != wanted:
        _differ(name, got, wanted)


def _differ(name: str, got: Any, wanted: Any) -> NoReturn:
    fail(f"{name} is not what it must be", expected=wanted, got=got)


def _equal_arrays(name: str, got: Any, wanted: Any) -> None:
    if _is_tensor(wanted):
        found = tensor(name, got, shape=wanted.shape, dtype=wanted.dtype)
        left, right = _bits(found), _bits(wanted.detach())
    else:
        wanted = np.asarray(wanted)
        left, right = (
            np.ascontiguousarray(x) for x in (array(name, got, shape=wanted.shape, dtype=wanted.dtype), wanted)
        )
        left, right = (x.reshape(-1).view(np.uint8) for x in (left, right))
    if left.tobytes() != right.tobytes():
        rows = left.reshape(max(_count(wanted), 1), -1) != right.reshape(max(_count(wanted), 1), -1)
        differs = rows.any(axis=1)
        where = np.unravel_index(int(np.argmax(differs)), tuple(wanted.shape)) if len(wanted.shape) else ()
        raise CheckFailed(
            WrongValue(name, "error", int(differs.sum()), int(differs.size), [int(i) for i in where], budget=0.0)
        )


def _count(value: Any) -> int:
    return int(np.prod(tuple(value.shape), dtype=np.int64))


def _bits(value: Any) -> NDArray[np.uint8]:
    import torch

    flat = value.clone(memory_format=torch.contiguous_format).reshape(-1)
    return flat.view(torch.uint8).numpy() if flat.numel() else np.empty(0, np.uint8)


# ------------------------------------------------------------------------------------------------------------- counts
def at_most(name: str, got: Any, limit: float, unit: str = "") -> None:
    """A number that may not exceed `limit`."""
    value = number(name, got)
    if not value <= limit:
        raise CheckFailed(TooMuch(name, unit, int(limit), int(value) if np.isfinite(value) else -1))


def counts(name: str, *, of: Any, loads: int | None = None, stores: int | None = None) -> None:
    """At most that many loads and stores of the Memory `of`; the failure names the first access too many."""
    from course_lib.memory import trace_of

    for what, contract, measured in (("load", loads, of.loads), ("store", stores, of.stores)):
        if contract is not None and measured > contract:
            event = _first_beyond(trace_of(of), what, contract)
            raise CheckFailed(TooMuch(name, f"{what}s", int(contract), int(measured), event))


def _first_beyond(trace: Iterable[tuple[str, int]], what: str, contract: int) -> str | None:
    seen = 0
    repeated: dict[int, int] = {}
    for number, (op, index) in enumerate(trace):
        if op == what:
            seen += 1
            repeated[index] = repeated.get(index, 0) + 1
            if seen > contract:
                times = repeated[index]
                return f"event {number}: {op} of element {index}" + (
                    f", for the {_ordinal(times)} time" if times > 1 else ""
                )
    return None


def _ordinal(n: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(n, f"{n}th")


def ledger(hbm: Any, contract: Mapping[Any, tuple[int, int]]) -> None:
    """Elements read and written per array of an HBM are at most the contract's `{name: (reads, writes)}`.

    An array that is not named must not be touched. The failure names the first event of the trace that goes beyond.
    """
    allowed = {getattr(key, "name", key): value for key, value in contract.items()}
    for name, entry in hbm.ledger.items():
        reads, writes = allowed.get(name, (0, 0))
        for what, limit, measured in (("reads", reads, entry.reads), ("writes", writes, entry.writes)):
            if measured > limit:
                raise CheckFailed(
                    TooMuch(
                        name,
                        f"elements {what[:-1]}" if what == "reads" else "elements written",
                        limit,
                        measured,
                        _event_beyond(hbm, name, what[:-1], limit),
                    )
                )


def _event_beyond(hbm: Any, name: str, op: str, limit: int) -> str | None:
    total, seen = 0, set()
    for number, event in enumerate(hbm.trace):
        if event.array == name and event.op == op:
            total += event.elements
            again = (op, str(event.slice)) in seen
            seen.add((op, str(event.slice)))
            if total > limit:
                return f"event {number}: {event}" + (" again" if again else "")
    return None

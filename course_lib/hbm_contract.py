"""What a ledger and a trace prove about a kernel: allowances per array, and memory that it must have had on chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from course_lib.hbm import HBM, HBMArray
from course_lib.hbm_store import Counts

Pair = tuple[int, int]


def allowance(hbm: HBM, contract: Mapping[HBMArray, Pair], spare: Pair = (0, 0)) -> dict[str, Pair]:
    """(reads, writes) that each array of `hbm` may have used, by its name in the ledger.

    contract: allowances of inputs and results, by handle; results that share one array add up.
    spare: what the contract grants to arrays that the kernel does not return. A result may use it as well (softmax in
        place), and scratch arrays may use what the results leave of their own allowance (two arrays in turns).
    """
    ledger = hbm.ledger
    reads = _share(contract, 0, spare[0], ledger)
    writes = _share(contract, 1, spare[1], ledger)
    return {name: (reads[name], writes[name]) for name in ledger}


def _share(contract: Mapping[HBMArray, Pair], column: int, spare: int, ledger: Mapping[str, Counts]) -> dict[str, int]:
    own: dict[str, int] = {}
    inputs = set()
    for handle, pair in contract.items():
        own[handle.name] = own.get(handle.name, 0) + pair[column]
        if handle.is_input:
            inputs.add(handle.name)
    allowed = dict(own)
    left_over = 0
    for name in sorted(own.keys() - inputs):
        used = ledger[name][column]
        beyond = min(max(used - own[name], 0), spare)
        allowed[name] += beyond
        spare -= beyond
        left_over += max(own[name] - used, 0)
    pool = spare + left_over
    for name in ledger:
        if name not in own:
            allowed[name] = min(ledger[name][column], pool)
            pool -= allowed[name]
    return allowed


def must_hold(
    hbm: HBM, keys: HBMArray, output: HBMArray, inputs: Iterable[HBMArray], queries: HBMArray | None = None
) -> int:
    """Elements that a kernel must have held on chip at some moment, however it did so: proved from the trace.

    Every row of `output` depends on every row of `keys` (no mask). Consider any moment. Keys that are never read again,
    and elements of the output whose last write is still to come: the kernel holds either the former or a state of the
    latter. Where a row of the output depends on its row of `queries` too, queries that are never read again are held as
    well, as long as some keys have not been read at all. What it reads from arrays of its own afterwards is taken off.
    """
    trace = hbm.trace
    own = {handle.name for handle in inputs}
    moved = [(event.op, event.array, tuple(slice(*edges) for edges in event.slice)) for event in trace]
    last_write = np.full(output._info.shape, -1)
    returning = np.zeros(len(trace) + 1, dtype=np.int64)
    for moment, (op, array, part) in enumerate(moved):
        if op == "write" and array == output.name:
            last_write[part] = moment
        elif op == "read" and array not in own:
            returning[moment] = trace[moment].elements
    gone = _gone(moved, keys)
    written = _histogram(last_write[last_write >= 0], len(trace))
    pending = written.sum() - np.cumsum(written)
    held = np.minimum(gone, pending)
    if queries is not None:
        first_read = np.full(keys._info.shape, len(trace))
        for moment, (op, array, part) in reversed(list(enumerate(moved))):
            if op == "read" and array == keys.name:
                first_read[part] = moment
        held[: int(first_read.max(initial=0))] += _gone(moved, queries)[: int(first_read.max(initial=0))]
    after = returning.sum() - np.cumsum(returning)
    return max(0, int((held - after)[:-1].max(initial=0)))


def _gone(moved: Sequence[tuple[str, str, tuple[slice, ...]]], array: HBMArray) -> NDArray[np.int64]:
    """After each moment: how many elements of `array` have been read for the last time."""
    last_read = np.full(array._info.shape, len(moved))
    for moment, (op, name, part) in enumerate(moved):
        if op == "read" and name == array.name:
            last_read[part] = moment
    return np.cumsum(_histogram(last_read, len(moved)))


def _histogram(moments: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return np.bincount(moments.reshape(-1), minlength=length + 1)

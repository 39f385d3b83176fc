"""What a ledger and a trace prove about a kernel: allowances per array, and memory that it must have had on chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def must_hold(hbm: HBM, keys: HBMArray, output: HBMArray, inputs: Iterable[HBMArray]) -> int:
    """Elements that a kernel must have held on chip at some moment, however it did so: proved from the trace.

    Every row of `output` depends on every row of `keys` (no mask). Consider any moment. Keys that are never read again,
    and elements of the output whose last write is still to come: the kernel holds either the former or a state of the
    latter, except for what it reads from arrays of its own afterwards.
    """
    trace = hbm.trace
    own = {handle.name for handle in inputs}
    last_read = np.full(keys._info.shape, len(trace))
    last_write = np.full(output._info.shape, -1)
    returning = np.zeros(len(trace) + 1, dtype=np.int64)
    for moment, event in enumerate(trace):
        part = tuple(slice(start, stop) for start, stop in event.slice)
        if event.op == "read" and event.array == keys.name:
            last_read[part] = moment
        elif event.op == "write" and event.array == output.name:
            last_write[part] = moment
        elif event.op == "read" and event.array not in own:
            returning[moment] = event.elements
    gone = np.cumsum(_histogram(last_read, len(trace)))
    written = _histogram(last_write[last_write >= 0], len(trace))
    pending = written.sum() - np.cumsum(written)
    after = returning.sum() - np.cumsum(returning)
    return max(0, int((np.minimum(gone, pending) - after)[:-1].max(initial=0)))


def _histogram(moments: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return np.bincount(moments.reshape(-1), minlength=length + 1)

"""What each array of a kernel may cost, given a contract that names inputs and results but not the scratch arrays."""

from __future__ import annotations

from collections.abc import Mapping

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

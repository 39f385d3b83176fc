"""Runs in the submission's process: facts about graphs, saved activations and arguments that do not travel as values.

`student` is the student's module, set before the first call. Every function takes plain data and returns plain data;
what the student returned is passed on as it is, for the check to judge.
"""

from __future__ import annotations

import itertools

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

MOST_GRADIENTS = 4096


# --------------------------------------------------------------------------------------------------------- calling
def forward(x, weights, keep):
    """What `mlp_stack_forward` returned, whether a graph hangs on it, and which argument it changed."""
    guard = Unchanged(x=x, weights=weights)
    result = student.mlp_stack_forward(x, weights, keep)
    given = {id(x), *map(id, weights)}
    tensors = [t for t in _tensors(result) if id(t) not in given]
    return {"result": _rows(result, 1), "graph": any(t.requires_grad for t in tensors), "changed": guard.changes()}


def backward(weights, checkpoints, k, grad_out):
    """What `checkpointed_backward` returned, and which argument it changed."""
    guard = Unchanged(weights=weights, checkpoints=checkpoints, grad_out=grad_out)
    result = student.checkpointed_backward(weights, checkpoints, k, grad_out)
    return {"result": _rows(result, 0), "changed": guard.changes()}


def round_trip(x, weights, k, grad_out):
    """`checkpointed_backward` from the checkpoints of the student's own forward."""
    made = student.mlp_stack_forward(x, weights, k)
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        return None
    return _rows(student.checkpointed_backward(weights, made[1], k, grad_out), 0)


def graph_gradients(x, weights, grad_out):
    """Gradients of x and the weights through the graph of keep="all"; None where the graph does not reach."""
    made = student.mlp_stack_forward(x, weights, "all")
    h = made[0] if isinstance(made, (tuple, list)) and made else None
    if not isinstance(h, torch.Tensor) or h.shape != grad_out.shape or not h.requires_grad:
        return [None] * (1 + len(weights))
    return list(torch.autograd.grad(h, [x, *weights], grad_out, allow_unused=True))


# ------------------------------------------------------------------------------------------------------- measuring
def graph_built(x, weights, keep):
    """Number of tensors that autograd saved while `mlp_stack_forward` ran; None where it cannot be watched."""
    saved = Saved(exclude=[], batch=1)
    return saved.packed if _watch(saved, lambda: student.mlp_stack_forward(x, weights, keep)) else None


def executed(weights, checkpoints, k, grad_out):
    """Elements that went through tanh during `checkpointed_backward`, and most activation elements alive at once.

    An activation is a storage of whole rows of the batch; checkpoints are not counted.
    """
    meter = Executed(exclude=[*weights, *checkpoints, grad_out], batch=grad_out.shape[0])
    with meter:
        _rows(student.checkpointed_backward(weights, checkpoints, k, grad_out), 0)
    return {"tanh": meter.tanh, "alive": meter.peak}


def saved_activations(weights, checkpoints, k, grad_out):
    """Most activation elements that autograd held at once besides the checkpoints; None where it cannot be watched."""
    saved = Saved(exclude=[*weights, *checkpoints], batch=grad_out.shape[0])
    run = _watch(saved, lambda: _rows(student.checkpointed_backward(weights, checkpoints, k, grad_out), 0))
    return saved.peak if run else None


def _watch(saved, call):
    """Whether `call` ran under the hooks. Functional transforms refuse them: then there is nothing to see."""
    try:
        with saved_tensors_hooks(saved.pack, saved.unpack):
            call()
    except RuntimeError as error:
        if "saved tensor hooks" in str(error):
            return False
        raise
    return True


class Saved:
    """Pack and unpack hooks that know which storages autograd holds, each counted once however often it is saved."""

    def __init__(self, exclude, batch):
        self.packed = self.held = self.peak = 0
        self._batch = batch
        self._excluded = {t.untyped_storage().data_ptr() for t in exclude}
        self._holders = {}

    def pack(self, tensor):
        self.packed += 1
        return _Held(self, tensor.detach())

    @staticmethod
    def unpack(held):
        return held.tensor

    def hold(self, tensor):
        storage = _storage(tensor)
        elements = _elements(tensor)
        if storage is None or elements % self._batch or storage.data_ptr() in self._excluded:
            return None
        key = storage.data_ptr()
        self._holders[key] = self._holders.get(key, 0) + 1
        if self._holders[key] == 1:
            self.held += elements
            self.peak = max(self.peak, self.held)
        return key, elements

    def drop(self, key, elements):
        self._holders[key] -= 1
        if self._holders[key] == 0:
            self.held -= elements


class _Held:
    """A saved tensor; gone when autograd lets go of it."""

    def __init__(self, meter, tensor):
        self.tensor, self._meter = tensor, meter
        self._counted = meter.hold(tensor)

    def __del__(self):
        if self._counted is not None:
            self._meter.drop(*self._counted)


class Executed(TorchDispatchMode):
    """Counts elements through tanh, and the activation storages that are alive after each operation."""

    def __init__(self, exclude, batch):
        super().__init__()
        self.tanh = self.peak = 0
        self._batch = batch
        self._excluded = {t.untyped_storage()._cdata for t in exclude}
        self._alive = {}

    @classmethod
    def _should_skip_dynamo(cls):
        # torch would import its compiler to exclude this class from it: over a second in every new process.
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in (torch.ops.aten.tanh, torch.ops.aten.tanh_):
            self.tanh += result.numel()
        for tensor in _tensors(result):
            self._see(tensor)
        self._alive = {key: entry for key, entry in self._alive.items() if not entry[0].expired()}
        self.peak = max(self.peak, sum(elements for _, elements in self._alive.values()))
        return result

    def _see(self, tensor):
        storage = _storage(tensor)
        if storage is None or storage._cdata in self._excluded or storage._cdata in self._alive:
            return
        elements = _elements(tensor)
        if elements and elements % self._batch == 0:
            self._alive[storage._cdata] = StorageWeakRef(storage), elements


class Unchanged:
    """Values, requires_grad and .grad of the arguments, to be compared after the call."""

    def __init__(self, **arguments):
        self._before = []
        for name, value in arguments.items():
            single = isinstance(value, torch.Tensor)
            for label, t in [(name, value)] if single else [(f"{name}[{i}]", t) for i, t in enumerate(value)]:
                self._before.append((label, t, t.detach().clone(), t.requires_grad, self._mark(t)))

    @staticmethod
    def _mark(tensor):
        """A gradient that is there already: adding to it, replacing it and deleting it all show."""
        if tensor.requires_grad:
            tensor.grad = torch.full_like(tensor, 0.25)
        return tensor.grad

    def changes(self):
        changed = []
        for name, tensor, value, requires_grad, grad in self._before:
            if tensor.shape != value.shape or not torch.equal(tensor.detach(), value):
                changed.append(name)
            if tensor.requires_grad != requires_grad:
                changed.append(f"{name}.requires_grad")
            if (tensor.grad is not grad) or (grad is not None and not bool((grad == 0.25).all())):
                changed.append(f"{name}.grad")
        return changed


def _rows(result, index):
    """`result` with its element `index` as a list, whatever sequence the student chose."""
    if not isinstance(result, (tuple, list)) or len(result) <= index or isinstance(result[index], (str, bytes, dict)):
        return result
    try:
        rows = list(itertools.islice(result[index], MOST_GRADIENTS))
    except TypeError:
        return result
    return [rows if i == index else item for i, item in enumerate(result)]


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in _tensors(item)]
    return []


def _storage(tensor):
    """The storage of a tensor; None for wrappers (functional transforms) that have none."""
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def _elements(tensor):
    """Elements of the whole storage, of which the tensor may be a view."""
    return tensor.untyped_storage().nbytes() // tensor.element_size()

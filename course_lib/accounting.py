"""Accounting at full scale: run a module whose tensors have shapes and storages but take up no memory.

A tensor in this mode is an ordinary CPU tensor whose storage was reserved and never touched; the operating system
hands out memory on first use, so it costs none. Every operation is intercepted below autograd: what only changes how a
storage is looked at runs as always, for the rest a fake tensor (torch's `FakeTensorMode`) is asked for the shapes, and
nothing is computed. Autograd, `saved_tensors_hooks`, aliases, `deepcopy` and the choice of the CPU kernel (fused
attention!) are the real ones, so that whatever counts the saved bytes of small models counts those of large ones, byte
for byte.

Fake tensors alone would not do: they have no address and cannot be deep-copied, and two good ways to measure need that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

__all__ = ["FullScaleError", "at_full_scale", "weightless"]


class FullScaleError(RuntimeError):
    """An operation cannot be accounted for without being computed; the message says which and why."""


def at_full_scale(
    activation_bytes: Callable[..., int],
    build_module: Callable[[], torch.nn.Module],
    build_inputs: Callable[[], Sequence[Any]],
) -> int:
    """`activation_bytes(build_module(), *build_inputs())` without the memory and without the arithmetic.

    activation_bytes: any function `(module, *inputs) -> bytes`, such as hw6's.
    build_module, build_inputs: called here, so that weights and inputs take up no memory either. A module or an input
    made before would be the real one, at its full price, and is accounted for correctly too.
    Returns what `activation_bytes` returned. Torch's random generators are not advanced.
    Raises FullScaleError when the forward looks at values (`if x.sum() > 0`, `x.item()`, `nonzero`), which do not
    exist, or runs an operation whose CPU kernel saves a workspace of its own choosing (an LSTM, `EmbeddingBag`).
    """
    with weightless():
        return activation_bytes(build_module(), *build_inputs())


@contextmanager
def weightless() -> Iterator[None]:
    """Inside, tensors are made and operations run without memory or arithmetic; contents are undefined.

    Do not let a tensor made inside reach code outside: there it would be read, and its memory paid for.
    Needs an operating system that gives memory on first use (Linux, macOS); address space is reserved all the same,
    and given back at the end even of tensors that are never freed: a pack hook that returns its tensor ties what an
    operation saved of its own result to that operation, for good.
    """
    mode = _Weightless()
    try:
        with mode:
            yield
    finally:
        mode.give_back()


class _Weightless(TorchDispatchMode):
    """Sees every operation below autograd, and answers with shapes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._fake_mode = FakeTensorMode(allow_non_fake_inputs=False)
        self._reserved: list[StorageWeakRef] = []

    def give_back(self) -> None:
        """Empty every storage made in this mode that is still alive."""
        for reference in self._reserved:
            storage = torch.UntypedStorage._new_with_weak_ptr(reference.cdata)
            if storage is not None:
                storage.resize_(0)

    def reserve(self, nbytes: int) -> torch.UntypedStorage:
        storage = _storage(nbytes, "cpu")
        self._reserved.append(StorageWeakRef(storage))  # type: ignore[no-untyped-call]
        return storage

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if _only_metadata(func):
            return func(*args, **kwargs)
        if func.overloadpacket in _OPAQUE:
            raise FullScaleError(f"{func} saves a workspace whose size only its CPU kernel knows")
        if _returns_arguments(func):
            return _written(func, args, kwargs)
        return self._shapes(func, args, kwargs)

    def _shapes(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        twins = _Twins(self._fake_mode, self.reserve)
        fake_args, fake_kwargs = tree_map_only(torch.Tensor, twins.fake, (args, kwargs))
        try:
            with self._fake_mode:
                result = func(*fake_args, **fake_kwargs)
        except Exception as error:
            if {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & set(func.tags):
                raise FullScaleError(f"{func} needs the values of a tensor, and at full scale it has none") from error
            raise
        return tree_map_only(torch.Tensor, twins.weightless, result)


class _Twins:
    """Fake twins of one call's tensors: tensors that share a storage have twins that share one, and back again."""

    def __init__(self, mode: FakeTensorMode, reserve: Callable[[int], torch.UntypedStorage]) -> None:
        self._mode, self._reserve = mode, reserve
        self._fakes: dict[int, torch.UntypedStorage] = {}
        self._homes: dict[int, torch.UntypedStorage] = {}

    def fake(self, tensor: torch.Tensor) -> torch.Tensor:
        home = tensor.untyped_storage()
        meta = self._fakes.get(home._cdata)
        if meta is None:
            meta = self._fakes[home._cdata] = _storage(home.nbytes(), "meta")
            self._homes[meta._cdata] = home
        return FakeTensor(self._mode, _over(meta, tensor), tensor.device)

    def weightless(self, tensor: torch.Tensor) -> torch.Tensor:
        """A result's tensor: over an argument's storage where the operation returned a view of it (`_unsafe_view`)."""
        meta = tensor.untyped_storage()
        home = self._homes.get(meta._cdata)
        if home is None:
            home = self._homes[meta._cdata] = self._reserve(meta.nbytes())
        return _over(home, tensor)


def _storage(nbytes: int, device: str) -> torch.UntypedStorage:
    make = cast(Callable[..., torch.UntypedStorage], torch.UntypedStorage)
    return make(nbytes, device=device)


def _over(storage: torch.UntypedStorage, like: torch.Tensor) -> torch.Tensor:
    """A tensor over `storage` with the dtype, offset, shape and strides of `like`."""
    tensor = torch.empty(0, dtype=like.dtype, device=storage.device)
    return tensor.set_(storage, like.storage_offset(), like.size(), like.stride())


def _only_metadata(func: Any) -> bool:
    """Views, changes of shape in place, and the question which attention kernel would run: no element is touched."""
    if torch.Tag.inplace_view in func.tags or func.overloadpacket in _LOOK_ONLY:
        return True
    returns = [r.alias_info for r in func._schema.returns]
    return any(returns) and not any(alias is not None and alias.is_write for alias in returns)


def _returns_arguments(func: Any) -> bool:
    """In-place and `out=` operations; not those that update a running statistic and return something new."""
    returns = [r.alias_info for r in func._schema.returns]
    return func._schema.is_mutable and (not returns or any(returns))


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an in-place or `out=` operation returns: the arguments it would have written to."""
    given = {argument.name: value for argument, value in zip(func._schema.arguments, args)} | kwargs
    aliases = [(a.name, a.alias_info) for a in func._schema.arguments]
    written = [given[name] for name, alias in aliases if alias is not None and alias.is_write and name in given]
    count = len(func._schema.returns)
    return None if count == 0 else written[0] if count == 1 else tuple(written)


_LOOK_ONLY = {torch.ops.aten._fused_sdp_choice, torch.ops.aten.set_, torch.ops.aten.resize_}
_OPAQUE = {torch.ops.aten.mkldnn_rnn_layer, torch.ops.aten._embedding_bag, torch.ops.aten._embedding_bag_forward_only}

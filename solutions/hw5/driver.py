"""Runs in the submission's process: makes runs, drives the student's functions, reports the complete state of a run.

Nothing here is secret. The student's module is the global `student`, set before the first call.
"""

import errno
import importlib.metadata
import os
import random
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from course_lib import DropoutLanguageModel, make_optimizer

FOLDER = "runs"
CHECKPOINT = f"{FOLDER}/run.ckpt"


# -------------------------------------------------------------------------------------------------------------- models
def model(config, values=None, gradients=None):
    """A float64 model with these parameters, and with these gradients planted."""
    made = DropoutLanguageModel(**config).double()
    if values is not None:
        made.load_state_dict(values)
    plant(made, gradients or {})
    return made


def plant(made, gradients):
    for name, parameter in made.named_parameters():
        if name in gradients:
            parameter.grad = gradients[name].clone()


def accumulated(config, values, x, y, micro):
    """What `accumulate` returns for a new model, the gradients it leaves, and whether it left the rest alone."""
    made = model(config, values)
    before, training = torch.get_rng_state(), made.training
    loss = student.accumulate(made, x, y, micro)
    kept = {"training": made.training == training, "rng": torch.equal(before, torch.get_rng_state())}
    return loss, gradients(made), kept


def gradients(made):
    """Gradient of each parameter by name, None where there is none."""
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in made.named_parameters()}


def values(made):
    return {name: t.detach().clone() for name, t in made.state_dict().items()}


# ---------------------------------------------------------------------------------------------------------------- runs
class Run:
    """One training run: what `advance` and `save` take, and how far it is."""

    def __init__(self, model, optimizer, sampler, completed, data, plan):
        self.model, self.optimizer, self.sampler = model, optimizer, sampler
        self.completed, self.data, self.plan = completed, data, plan


def begin(config, values, data, plan, seed, groups=1, drawn=0):
    """A run before its first step: its parameters in `groups` parameter groups, its sampler used `drawn` times."""
    torch.manual_seed(seed)
    made = model(config, values)
    optimizer = make_optimizer(made, plan)
    if groups > 1:
        parameters = list(made.parameters())
        split = [{"params": parameters[i::groups], "lr": 1.0 + i} for i in range(groups)]
        optimizer = torch.optim.AdamW(split, weight_decay=plan.weight_decay)
    torch.manual_seed(seed)
    sampler = torch.Generator().manual_seed(seed + 1)
    torch.rand(drawn, generator=sampler)
    return Run(made, optimizer, sampler, 0, data, plan)


def follow(run, stop, at_once=False):
    """Train up to `stop`: [(losses, complete state)] after each step, or after all of them `at_once`."""
    seen = []
    while run.completed < stop:
        end = stop if at_once else run.completed + 1
        losses = student.advance(run.model, run.optimizer, run.sampler, run.data, run.completed, end, run.plan)
        run.completed = end
        seen.append((losses, state(run)))
    return seen


def state(run):
    """Everything the next step depends on, by name, in the order in which differences are reported."""
    found = {f"model.{name}": t.detach().clone() for name, t in run.model.state_dict().items()}
    for name, parameter in run.model.named_parameters():
        for key, value in sorted(run.optimizer.state.get(parameter, {}).items()):
            value = value.detach().clone() if isinstance(value, torch.Tensor) else value
            found[f"optimizer.{key} of {name}"] = value
    found["state of the sampler"] = run.sampler.get_state()
    found["state of the global generator"] = torch.get_rng_state()
    return found


def plant_in(run, seed):
    """Leave gradients of an earlier life in the run's model."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in run.model.parameters():
        parameter.grad = torch.randn(parameter.shape, dtype=parameter.dtype, generator=generator)


def left_gradients(run):
    """Names of the parameters whose gradient is not None."""
    return [name for name, parameter in run.model.named_parameters() if parameter.grad is not None]


def rates(run):
    return [float(group["lr"]) for group in run.optimizer.param_groups]


def forget_optimizer(run):
    run.optimizer = make_optimizer(run.model, run.plan)


def spoil(made, marker, value):
    """From now on `value` is added to the logits of the word `marker`, in the rows that contain this word."""

    def hook(module, arguments, logits):
        rows = (arguments[0] == marker).any(1)
        shift = torch.zeros_like(logits)
        shift[rows, :, marker] = value
        return logits + shift

    made.register_forward_hook(hook)


def poison_gradient(run, value):
    """From now on every gradient of the output head is multiplied by `value`, after a loss that is finite."""
    run.model.head.weight.register_hook(lambda gradient: gradient * value)


# --------------------------------------------------------------------------------------------------------- checkpoints
class EitherPath(str):
    """A path for programs that expect a string and for programs that expect a `Path`."""

    def __getattr__(self, name):
        return getattr(Path(str(self)), name)

    def __truediv__(self, other):
        return Path(str(self)) / other


def save(run, path=CHECKPOINT, completed=None):
    """Save into a folder that exists; `completed` other than the run's shows whether it is used at all."""
    _prepare(path)
    steps = run.completed if completed is None else completed
    student.save(EitherPath(path), run.model, run.optimizer, run.sampler, steps, run.data, run.plan)


def _prepare(path):
    """The checkpoint's folder, and another one for temporary files that are not put beside the checkpoint."""
    Path(path).parent.mkdir(exist_ok=True)
    Path("elsewhere").mkdir(exist_ok=True)
    tempfile.tempdir = str(Path("elsewhere").resolve())


def restore(path, data, plan, seed):
    """A run from a checkpoint, in a process whose global generator was elsewhere."""
    torch.manual_seed(seed)
    restored = student.restore(EitherPath(path), data, plan)
    if not isinstance(restored, tuple | list) or len(restored) != 4:
        raise TypeError("restore returns (model, optimizer, sampler, completed)")
    made, optimizer, sampler, completed = restored
    if type(completed) is not int:
        raise TypeError(f"completed is a {type(completed).__name__}, not an int")
    return Run(made, optimizer, sampler, completed, data, plan)


def refusal(path, data, plan):
    """How `restore` refuses: the exception's classes, its message, and which global things have changed."""
    before = _globals()
    try:
        student.restore(EitherPath(path), data, plan)
    except NotImplementedError:
        raise
    except Exception as error:
        kinds, message = [kind.__name__ for kind in type(error).__mro__], str(error)
    else:
        kinds, message = [], ""
    after = _globals()
    return kinds, message, [name for name in before if before[name] != after[name]]


def _globals():
    return {
        "torch's global generator": torch.get_rng_state().numpy().tobytes(),
        "the default dtype": torch.get_default_dtype(),
        "the number of threads": torch.get_num_threads(),
        "gradient mode": torch.is_grad_enabled(),
        "deterministic mode": torch.are_deterministic_algorithms_enabled(),
        "Python's random state": random.getstate(),
        "numpy's random state": repr(np.random.get_state()),
        "the working directory": os.getcwd(),
    }


def unpickles(path, data, plan):
    """Whether `restore` looks up arbitrary classes by name, as only an unsafe unpickler does."""
    watch = Watch(path)
    with watch:
        restore(path, data, plan, seed=5)
    return watch.unpickled


@contextmanager
def _other_torch(version):
    """torch reports another version, wherever a module may have read it from."""
    real, lookup = torch.__version__, importlib.metadata.version
    pretended = type(real)(version)
    places = [(torch, "__version__"), (torch.version, "__version__"), (importlib.metadata, "version")]
    for name, value in vars(student).items():
        if (isinstance(value, str) and value == str(real)) or value is lookup:
            places.append((student, name))
    kept = [(owner, name, getattr(owner, name)) for owner, name in places]
    for owner, name, value in kept:
        setattr(owner, name, (lambda package: version) if value is lookup else pretended)
    try:
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)


def put(path, content):
    _prepare(path)
    Path(path).write_bytes(content)


def exists(path):
    return Path(path).exists()


def save_as_torch(run, path, version):
    with _other_torch(version):
        save(run, path)


# ------------------------------------------------------------------------------------------------- crashes, full disks
_SYNCS, _RENAMES = ("fsync", "fdatasync", "sync"), ("rename", "replace")
_FILE_EVENTS = ("open", "os.rename", "os.remove", "os.link", "os.symlink", "os.truncate", "os.mkdir", "os.rmdir")
_watch = None
_soft_limit = None

_exit = os._exit  # before the student's module is imported


class Watch:
    """Lists, in order, what a `save` does to files near the checkpoint, and may end the process at one of these points.

    Events are seen by audit hooks, by a profiler for calls into C, and by a wrapper around torch's own file writer, so
    that it does not matter under which name a function is called. `act` is called with the number of each event.
    """

    hooked = False

    def __init__(self, path, act=None):
        self.path, self.folder = os.path.realpath(path), os.path.dirname(os.path.realpath(path))
        self.act = act or (lambda number: None)
        self.events, self.synced, self.unseen, self.unpickled = [], {}, 0, False
        self.renamed = None

    def __enter__(self):
        global _watch
        if not Watch.hooked:
            sys.addaudithook(lambda event, args: _watch and _watch.audit(event, args))
            Watch.hooked = True
        self._kept = [*self._wrap(os, "fsync"), *self._wrap(os, "fdatasync")]
        self._kept += self._wrap(torch.serialization, "_open_zipfile_writer", self._writer)
        _watch = self
        sys.setprofile(self.profile)
        return self

    def __exit__(self, *_):
        global _watch
        sys.setprofile(None)
        _watch = None
        for owner, name, value in self._kept:
            setattr(owner, name, value)

    def _wrap(self, owner, name, wrapper=None):
        """Replace a function where it is defined and where the student has imported it."""
        real = getattr(owner, name, None)
        if real is None:
            return []
        wrapped = (wrapper or self._sync)(real)
        places = [(owner, name)] + [(student, key) for key, value in vars(student).items() if value is real]
        for place, key in places:
            setattr(place, key, wrapped)
        return [(place, key, real) for place, key in places]

    def _sync(self, real):
        def sync(descriptor, *args, **kwargs):
            real(descriptor, *args, **kwargs)
            self.unseen -= 1  # the profiler has counted this one too
            found = os.fstat(descriptor if isinstance(descriptor, int) else descriptor.fileno())
            self.synced[found.st_dev, found.st_ino] = found.st_size

        return sync

    def _writer(self, real):
        def open_writer(*args, **kwargs):
            made = real(*args, **kwargs)
            self.happened("torch opens its writer")
            return made

        return open_writer

    def happened(self, event):
        self.events.append(event)
        self.act(len(self.events) - 1)

    def audit(self, event, args):
        if event == "pickle.find_class":
            self.unpickled = True
        elif event.startswith(("ctypes.dlsym", "ctypes.call_function", "fcntl.fcntl", "mmap.")):
            self.unseen += 1  # ways to sync that cannot be told apart from here
        elif event in _FILE_EVENTS:
            paths = [os.path.realpath(os.fsdecode(p)) for p in args[:2] if isinstance(p, str | bytes | os.PathLike)]
            if event == "open":
                paths = paths[:1]
            if any(self._near(p) for p in paths):
                self._file_event(event, paths, args)

    def _near(self, path):
        return path.startswith(self.folder + os.sep)

    def _file_event(self, event, paths, args):
        if event == "open" and isinstance(args[2], int) and args[2] & (os.O_SYNC | os.O_DSYNC):
            self.synced[paths[0]] = None
        if event == "os.rename" and paths[1] == self.path and self.renamed is None:
            self.renamed = self._rename(paths[0])
        self.happened(f"before {event}")

    def _rename(self, source):
        """What is known about the file that is about to become the checkpoint."""
        if not os.path.exists(source):
            return None
        found = os.stat(source)
        size = self.synced.get((found.st_dev, found.st_ino), -1)
        visible = source in self.synced or size == found.st_size
        return {"beside": self._near(source), "synced": visible, "elsewhere": self.unseen > 0}

    def profile(self, frame, event, function):
        if event in ("c_call", "c_return") and getattr(function, "__module__", None) in ("posix", "nt"):
            name = function.__name__
            if event == "c_call" and name in _SYNCS:
                self.unseen += 1
            if event == "c_return" and name in (*_SYNCS, *_RENAMES):
                self.happened(f"after {name}")


def watched_save(run, path=CHECKPOINT):
    """Save, and tell what happened to files: events, the rename onto the checkpoint, the number of syncs."""
    _prepare(path)
    watch = Watch(path)
    with watch:
        save(run, path)
    return watch.events, watch.renamed, watch.unseen + len(watch.synced)


def dying_save(run, at, limit=None, path=CHECKPOINT):
    """Save, and be killed at event number `at`, or from then on (-1: from the start) by a file growing past `limit`."""
    _prepare(path)

    def act(number):
        if number == at and limit is None:
            _exit(1)
        elif number == at:
            _limit_files(limit, die=True)

    watch = Watch(path, act)
    with watch:
        act(-1)
        save(run, path)


def failing_save(run, limit, path=CHECKPOINT):
    """Save where no file may grow past `limit` bytes: whether it raised, and the files before and after."""
    _prepare(path)
    return _attempt(run, path, lambda: _limit_files(limit))


def save_on_full_disk(run, free, most, path=CHECKPOINT):
    """Save with `free` bytes left on the disk; None where the disk does not fill up after `most` bytes."""
    _prepare(path)
    filler = Path("filler")
    try:
        with filler.open("wb", buffering=0) as file:
            while file.tell() < most:
                file.write(bytes(4096))
        filler.unlink()
        return None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            filler.unlink()
            return None
        os.truncate(filler, max(0, filler.stat().st_size - free))
    try:
        return _attempt(run, path, lambda: None)
    finally:
        filler.unlink()


def _attempt(run, path, restrict):
    before = files()
    restrict()
    try:
        save(run, path)
    except Exception as error:
        raised = type(error).__name__
    else:
        raised = None
    finally:
        _limit_files(None)
    return raised, before, files()


def _limit_files(size, die=False):
    """From now on no file grows past `size` bytes (None: as before): a write fails, or ends the process.

    The handler is the C library's own _exit: it acts in the middle of the write, and also in a process that is number 1
    of its PID namespace, which no signal kills by default.
    """
    import ctypes
    import resource  # not on every system; neither is needed by the public checks

    global _soft_limit
    libc = ctypes.CDLL(None)
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    libc.signal(signal.SIGXFSZ, ctypes.cast(libc._exit, ctypes.c_void_p).value if die else int(signal.SIG_IGN))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    _soft_limit = soft if _soft_limit is None else _soft_limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (_soft_limit if size is None else size, hard))


def files():
    """The files that a save can have made, by name."""
    return {str(p): p.read_bytes() for place in (FOLDER, "elsewhere") for p in Path(place).rglob("*") if p.is_file()}

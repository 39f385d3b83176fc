"""Runs in the submission's process: builds modules and optimizers from a seed, and reports what a call left behind.

The checks import this file too and build the same objects, so that they know every number and every digest themselves.
Sizes come from the seed: no two calls measure the same bytes.
"""

import hashlib
import itertools
import random
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from course_lib import Block

RUNS = itertools.count()
"""Advanced by every forward pass of a module built here, those of its deep copies included."""
MODULES = {}
OPTIMIZERS = {}


# ------------------------------------------------------------------------------------------------- what checks call
def build(case, seed):
    """(module, inputs) of a case; the same seed gives the same sizes and the same numbers, in any process."""
    torch.manual_seed(seed)
    module, *inputs = MODULES[case](_sizes(seed))
    return module, inputs


def build_optimizer(case, seed, steps):
    """An optimizer after `steps` steps."""
    torch.manual_seed(seed)
    make, options = OPTIMIZERS[case]
    return _stepped(_sizes(seed), steps, make, **options)


def measure(case, seed):
    """What the student's `activation_bytes` returned, how often forward ran, and the state it left behind."""
    module, inputs = build(case, seed)
    parameters, buffers = tuple(module.parameters()), tuple(module.buffers())
    mine, start = tuple(globals().items()), next(RUNS)
    result = student.activation_bytes(module, *inputs)
    globals().update(mine)  # whoever reached them through the calling frame
    return {
        "bytes": result,
        "forwards": next(RUNS) - start - 1,
        "state": state_of(module, inputs),
        "same_parameters": _same(parameters, module.parameters()),
        "same_buffers": _same(buffers, module.buffers()),
    }


def measure_optimizer(case, seed, steps):
    """What the student's `optimizer_state_bytes` returned, and the state it left behind."""
    optimizer = build_optimizer(case, seed, steps)
    return {"bytes": student.optimizer_state_bytes(optimizer), "state": optimizer_digests(optimizer)}


# ------------------------------------------------------------------------------------------------------------ state
def state_of(module, inputs):
    """Everything that measuring must leave as it was, as plain values."""
    leaves = [*module.parameters(), *inputs]
    return {
        "parameters": [_digest(p) for p in module.parameters()],
        "buffers": [f"{name} {_digest(b)}" for name, b in module.named_buffers()],
        "modes": [m.training for m in module.modules()],
        "requires_grad": [t.requires_grad for t in leaves],
        "hooks": [_hooks(m) for m in module.modules()] + [len(t._backward_hooks or ()) for t in leaves],
        "gradients": ["none" if t.grad is None else _digest(t.grad) for t in leaves],
        "generator": [_digest(torch.get_rng_state())],
        "grad-mode": [torch.is_grad_enabled()],
    }


def optimizer_digests(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    held = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]
    return [_digest(t) for t in parameters + held]


def _digest(tensor):
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)}".encode() + data).hexdigest()[:16]


def _hooks(module):
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks")
    shared = (nn.modules.module._global_forward_hooks, nn.modules.module._global_forward_pre_hooks)
    return [len(getattr(module, kind)) for kind in kinds] + [len(hooks) for hooks in shared]


def _same(before, after):
    after = list(after)
    return len(before) == len(after) and all(a is b for a, b in zip(before, after))


# ---------------------------------------------------------------------------------------------------------- modules
class Counted(nn.Module):
    """A module that notices its forward passes; `run` says what they do, `parts` become its attributes."""

    def __init__(self, run, **parts):
        super().__init__()
        self.run = run
        for name, part in parts.items():
            if name.startswith(("buffer_", "unsaved_")):
                self.register_buffer(name, part, persistent=name.startswith("buffer_"))
            else:
                setattr(self, name, part)

    def forward(self, *inputs):
        next(RUNS)
        return self.run(self, *inputs)


def _sizes(seed):
    """B, T rows and positions, d, h widths, k a small number: all small, different, and different for every seed."""
    draw = random.Random(seed).randint
    return SimpleNamespace(B=draw(3, 9), T=draw(4, 11), d=draw(12, 24), h=draw(25, 48), k=draw(2, 6), heads=draw(2, 4))


def case(name, parts, run):
    """Declares a case: `parts(z)` gives the attributes, and the inputs under "inputs"; `run(m, *inputs)` is forward."""

    def make(z):
        attributes = parts(z)
        inputs = attributes.pop("inputs", None) or [torch.randn(z.B, z.d)]
        return Counted(run, **attributes), *inputs

    MODULES[name] = make


def chain(name, layers, inputs=lambda z: None):
    case(name, lambda z: {"chain": nn.Sequential(*layers(z)), "inputs": inputs(z)}, lambda m, x: m.chain(x))


def param(*shape):
    return nn.Parameter(torch.randn(*shape))


def up(z):
    return nn.Linear(z.d, z.h)


def down(z):
    return nn.Linear(z.h, z.d)


def square(z):
    return nn.Linear(z.d, z.d)


def frozen(*layers):
    return nn.Sequential(*layers).requires_grad_(False)


def batch_of_sequences(z):
    return [torch.randn(z.B, z.T, z.d)]


chain("basic", lambda z: (up(z), nn.GELU(), nn.Linear(z.h, z.k)))
chain("in-place", lambda z: (up(z), nn.ReLU(True), down(z), nn.SiLU(), up(z), nn.ReLU(True)))
chain("dropout", lambda z: (up(z), nn.Dropout(0.3), nn.GELU(), down(z), nn.Dropout(0.5)))
chain("evaluation", lambda z: (nn.Sequential(up(z), nn.Dropout(0.3), nn.BatchNorm1d(z.h), down(z)).eval(),))
chain("mixed-modes", lambda z: (up(z), nn.Sequential(nn.Dropout(0.4), down(z)).eval(), nn.Dropout(0.2)))
chain("batch-norm", lambda z: (up(z), nn.BatchNorm1d(z.h), down(z)))
chain(
    "convolution",
    lambda z: (nn.Conv2d(3, z.k, 3), nn.BatchNorm2d(z.k), nn.ReLU(True), nn.MaxPool2d(2), nn.Conv2d(z.k, 4, 3)),
    lambda z: [torch.randn(z.B, 3, z.d, z.d)],
)
chain("input-is-a-view", lambda z: (up(z), nn.Tanh()), lambda z: [torch.randn(z.h, z.d)[: z.B]])
chain("nothing-to-learn", lambda z: (frozen(up(z), nn.Tanh(), down(z)),))
chain("frozen", lambda z: (frozen(up(z), nn.Tanh()), down(z), nn.Tanh(), frozen(up(z)), nn.Tanh(), down(z)))
case("own-function", lambda z: {"lift": up(z)}, lambda m, x: Swish.apply(m.lift(x)))
case("attributes", lambda z: {"lift": up(z), "plain": torch.randn(z.B, z.h)}, lambda m, x: m.lift(x) * m.plain)
case("tuple-output", lambda z: {"lift": up(z)}, lambda m, x: (m.lift(x).tanh(), [m.lift(x).exp(), None], x.shape))
case(
    "dict-output",
    lambda z: {"lift": up(z), "inputs": [torch.randn(z.B, z.d), torch.arange(z.B)]},
    lambda m, x, y: {"loss": F.cross_entropy(m.lift(x), y), "classes": len(y)},
)
case(
    "equal-values",  # of the same shape too, in different storages
    lambda z: {"a": square(z), "b": square(z)},
    lambda m, x: m.a(torch.zeros_like(x)) + m.b(torch.zeros_like(x)),
)
case(
    "tied",
    lambda z: {"table": nn.Embedding(z.h, z.d), "inputs": [torch.arange(z.B * z.T).reshape(z.B, z.T) % z.h]},
    lambda m, ids: F.linear(m.table(ids).tanh(), m.table.weight),
)
case(
    "transposed-parameter",
    lambda z: {"lift": square(z), "W": param(z.h, z.d), "U": param(z.k, z.d, z.h)},
    lambda m, x: ((m.lift(x) @ m.W.t()) * m.W.view(-1)[: len(m.W)]) @ m.U[1].t()[:, :3] * m.W[0, :3].expand(len(x), 3),
)
case(
    "computed-weight",  # the product of two parameters is not a parameter
    lambda z: {"lift": square(z), "W": param(z.h, z.d), "scale": param(z.h, 1)},
    lambda m, x: F.linear(m.lift(x), m.W * m.scale),
)
case(
    "buffers",
    lambda z: {
        "lift": square(z),
        "buffer_a": torch.randn(z.h, z.d),
        "buffer_b": torch.rand(z.d),
        "unsaved_c": torch.randn(z.B, z.d),  # in no state_dict
    },
    lambda m, x: (m.lift(x) * m.buffer_a[: len(x)] / m.buffer_b * m.unsaved_c).exp(),
)
case(
    "precisions",
    lambda z: {
        "short": up(z).bfloat16(),
        "long": down(z).double(),
        "inputs": [torch.randn(z.B, z.d, dtype=torch.bfloat16)],
    },
    lambda m, x: m.long(m.short(x).tanh().double()).tanh().float().sigmoid(),
)
case(
    "adapters",  # of LoRA
    lambda z: {
        "base": frozen(square(z)),
        "adapter": nn.Sequential(nn.Dropout(0.1), nn.Linear(z.d, z.k, bias=False), nn.Linear(z.k, z.d, bias=False)),
    },
    lambda m, x: m.base(m.base(x) + m.adapter(x)).tanh(),
)


def shared_saves(m, x):
    h = m.lift(x).sigmoid()
    return m.a(h) * m.b(h) + m.a(h.exp())


def views(m, x):
    q, k, v = m.qkv(x).chunk(3, dim=-1)
    return (q @ k.transpose(-2, -1)).softmax(-1) @ v


def small_part_of_large(m, x):
    h = m.lift(x)
    return h[:, :2].square().sum() + h[:, 1:3].sin().sum() + m.lift(x)[:1].cos().sum()


def expanded(m, x):
    h = m.lift(x)[:, None].expand(-1, m.gate.shape[1], -1)
    return (h * m.gate).sum() + (torch.ones(1, 1).expand(m.scale.shape) * m.scale).sum()


def nested(m, x):
    h = m.lift(x)
    for layer in m.inner["deep"]:
        h = h + layer(layer(h))
    return h


def checkpointed(m, x):
    h = checkpoint(m.a, m.lift(x), use_reentrant=False)
    return checkpoint(m.b, h, use_reentrant=False).tanh()


def no_grad(m, x):
    with torch.no_grad():
        target = m.teacher(x).tanh().exp()
    h = m.lift(x).tanh()
    return m.out(h.detach() + h).sum() + (h.sin().detach() * h).sum() + F.mse_loss(h, target)


def replaced_buffer(m, x):
    h = m.lift(x)
    with torch.no_grad():
        m.buffer_mean = 0.9 * m.buffer_mean + 0.1 * h.mean(0)
        m.buffer_steps += 1
    return m.out(h - m.buffer_mean)


def autocast(m, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return m.lift(x)


def masks(m, x):
    h = m.lift(x)
    h = h.masked_fill(h > 1, 0.0)
    return h.max(dim=1).values.sum() + h.gather(1, torch.zeros(h.shape, dtype=torch.int64)).sum()


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = x.sigmoid()
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad):
        x, s = ctx.saved_tensors
        return grad * (s + x * s * (1 - s))


def with_gradients(z):
    gate, lift = torch.randn(z.B, z.h, requires_grad=True), up(z)
    for leaf in (gate, *lift.parameters()):
        leaf.grad = torch.randn_like(leaf)
    return {"lift": lift, "inputs": [torch.randn(z.B, z.d), gate]}


def with_hooks(z):
    layers = nn.Sequential(up(z), nn.Dropout(0.2), down(z))
    layers.register_forward_hook(_look)
    layers[0].register_forward_pre_hook(_look)
    layers[2].weight.register_hook(_look)
    return {"chain": layers}


def _look(*_):
    return None


def deep(z):
    return nn.ModuleDict({"deep": nn.ModuleList(nn.Sequential(nn.Linear(z.h, z.h), nn.Sigmoid()) for _ in "abc")})


case("shared-saves", lambda z: {"lift": up(z), "a": down(z), "b": down(z)}, shared_saves)
case("views", lambda z: {"qkv": nn.Linear(z.d, 3 * z.d), "inputs": batch_of_sequences(z)}, views)
case("small-part-of-large", lambda z: {"lift": up(z)}, small_part_of_large)
case("expanded", lambda z: {"lift": square(z), "gate": param(z.B, z.T, z.d), "scale": param(z.B, z.d)}, expanded)
case("nested", lambda z: {"lift": up(z), "inner": deep(z)}, nested)
case(
    "checkpointed",
    lambda z: {
        "lift": square(z),
        "a": nn.Sequential(up(z), nn.GELU(), nn.Dropout(0.2), down(z)),
        "b": nn.Sequential(up(z), nn.Tanh(), down(z)),
    },
    checkpointed,
)
case("no-grad", lambda z: {"teacher": up(z), "lift": up(z), "out": down(z)}, no_grad)
case(
    "replaced-buffer",
    lambda z: {"lift": up(z), "out": down(z), "buffer_mean": torch.zeros(z.h), "buffer_steps": torch.zeros(2)},
    replaced_buffer,
)
case("autocast", lambda z: {"lift": up(z)}, autocast)
case("masks", lambda z: {"lift": square(z), "inputs": batch_of_sequences(z)}, masks)
case("inputs", with_gradients, lambda m, x, gate: m.lift(x) * gate)
case("hooks", with_hooks, lambda m, x: m.chain(x))


def _transformer(layers, batch, tokens, attention, dropout=0.0):
    def make(z):
        d = 4 * z.heads * z.k
        run = lambda m, x: m.blocks(x)  # noqa: E731
        blocks = (Block(d, z.heads, attention=attention, dropout=dropout) for _ in range(layers))
        return Counted(run, blocks=nn.Sequential(*blocks)), torch.randn(batch, tokens or z.T, d)

    return make


for _kind in ("fused", "manual"):
    MODULES |= {f"{_kind}-{tokens}": _transformer(1, 2, tokens, _kind) for tokens in (8, 24, 56)}
MODULES |= {f"grid-{n}x{b}": _transformer(n, b, None, "fused", 0.1) for n in (1, 2, 4) for b in (1, 2, 3)}


def _vision(name, z):
    import torchvision

    resnet = torchvision.models.resnet
    known = vars(torchvision.models) | {
        "resnet10": lambda **options: resnet.ResNet(resnet.BasicBlock, [1] * 4, **options)
    }
    network = known[name](num_classes=z.k)  # without weights
    return Counted(lambda m, x: m.network(x), network=network), torch.randn(min(z.B, 4), 3, 2 * z.d, 2 * z.d)


for _name in ("resnet10", "mobilenet_v3_small", "squeezenet1_1"):
    MODULES[_name] = lambda z, name=_name: _vision(name, z)


# ------------------------------------------------------------------------------------------------------- optimizers
def _stepped(z, steps, make, dtype=torch.float32, frozen=(), unused=()):
    """Parameters trained for `steps`; those `frozen` do not require grad, those `unused` never get one."""
    parameters = [param(z.h, z.d), param(z.h), param(z.k, z.h), param(z.T)]
    parameters = [nn.Parameter(p.detach().to(dtype), requires_grad=i not in frozen) for i, p in enumerate(parameters)]
    optimizer = make(parameters)
    for _ in range(steps):
        for index, parameter in enumerate(parameters):
            if parameter.requires_grad and index not in unused:
                parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    return optimizer


class Quantized(torch.optim.Optimizer):
    """Momentum in int8 with float32 scales, beside a float32 master copy of the weights and a Python step number."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.01})

    @torch.no_grad()
    def step(self):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            if not state:
                state |= {"master": parameter.float().clone(), "scale": torch.ones(parameter.shape[:1]), "step": 0}
                state["momentum"] = torch.zeros(parameter.shape, dtype=torch.int8)
            state["step"] += 1
            state["master"] -= self.param_groups[0]["lr"] * parameter.grad.float()
            parameter.copy_(state["master"])


OPTIMIZERS |= {
    "sgd": (lambda p: torch.optim.SGD(p, lr=0.01), {}),
    "momentum": (lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9), {}),
    "adam": (lambda p: torch.optim.Adam(p, lr=0.01), {}),
    "amsgrad": (lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True), {}),
    "adagrad": (lambda p: torch.optim.Adagrad(p, lr=0.01), {}),
    "half-weights": (lambda p: torch.optim.Adam(p, lr=0.01), {"dtype": torch.bfloat16}),
    "frozen": (lambda p: torch.optim.AdamW(p, lr=0.01), {"frozen": (0, 3)}),
    "without-gradient": (lambda p: torch.optim.Adam(p, lr=0.01), {"unused": (1, 2)}),
    "groups": (lambda p: torch.optim.RMSprop([{"params": p[:2]}, {"params": p[2:], "momentum": 0.9}], lr=0.01), {}),
    "quantized": (Quantized, {"dtype": torch.bfloat16}),
}

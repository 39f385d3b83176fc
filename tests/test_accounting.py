"""course_lib.accounting: what is counted on tensors without memory is what is counted on real ones."""

import resource
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from course_lib import Block, FullScaleError, TinyTransformer, at_full_scale, weightless


def saved_bytes(module, *inputs, key=lambda storage: storage._cdata, copier=None):
    """The meter of these tests: saved storages once each, parameters included."""
    module = copier(module) if copier else module
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        output = module(*inputs)
    storages = {key(t.untyped_storage()): t.untyped_storage() for t in saved}
    del output
    return sum(storage.nbytes() for storage in storages.values())


class Lambda(nn.Module):
    def __init__(self, run, **parts):
        super().__init__()
        self.run = run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.run(self, *inputs)


def convolutional():
    layers = (nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(8 * 25, 3))


def normalised():
    layers = (nn.Conv2d(4, 8, 3, groups=2), nn.GroupNorm(2, 8), nn.SiLU(), nn.ConvTranspose2d(8, 4, 3, stride=2))
    return nn.Sequential(*layers, nn.InstanceNorm2d(4), nn.AvgPool2d(2), nn.Upsample(scale_factor=2), nn.Softmax(1))


def checkpointed():
    part = nn.Sequential(nn.Linear(32, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, 32))
    run = lambda m, x: checkpoint(m.part, m.first(x), use_reentrant=False).tanh()  # noqa: E731
    return Lambda(run, first=nn.Linear(32, 32), part=part)


def classified():
    run = lambda m, ids: F.cross_entropy(m.head(m.table(ids)).flatten(0, 1), ids.flatten())  # noqa: E731
    return Lambda(run, table=nn.Embedding(50, 32), head=nn.Linear(32, 50))


def attended(**options):
    def run(m, x):
        q, k, v = m.qkv(x).view(2, 9, 3, 4, 8).permute(2, 0, 3, 1, 4)
        mask = torch.zeros(9, 9) if options.get("mask") else None
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=options.get("dropout", 0.0))

    return Lambda(run, qkv=nn.Linear(32, 96))


def cast():
    def run(m, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return m.second(m.first(x).relu())

    return Lambda(run, first=nn.Linear(32, 32), second=nn.Linear(32, 32))


def picture(channels=3, side=12):
    return lambda: [torch.randn(5, channels, side, side)]


def vectors():
    return [torch.randn(2, 9, 32)]


def ids():
    return [torch.randint(0, 50, (3, 7))]


CASES = {
    "linear": (lambda: nn.Sequential(nn.Linear(32, 48), nn.ReLU(inplace=True), nn.Linear(48, 3)), vectors),
    "dropout": (lambda: nn.Sequential(nn.Linear(32, 48), nn.Dropout(0.3), nn.LayerNorm(48), nn.GELU()), vectors),
    "batch-norm": (convolutional, picture()),
    "batch-norm-evaluation": (lambda: convolutional().eval(), picture()),
    "norms": (normalised, picture(4, 9)),
    "channels-last": (
        lambda: nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU6()).to(memory_format=torch.channels_last),
        lambda: [torch.randn(2, 4, 9, 9).to(memory_format=torch.channels_last)],
    ),
    "embedding": (classified, ids),
    "checkpoint": (checkpointed, vectors),
    "fused": (attended, vectors),
    "fused-masked": (lambda: attended(mask=True), vectors),
    "fused-dropout": (lambda: attended(dropout=0.1), vectors),
    "block-fused": (lambda: Block(32, 4, dropout=0.1), vectors),
    "block-manual": (lambda: Block(32, 4, attention="manual"), vectors),
    "model": (lambda: TinyTransformer(vocab_size=50, context=9), ids),
    "encoder": (lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), vectors),
    "gru": (lambda: nn.GRU(32, 16, batch_first=True), vectors),
    "half": (
        lambda: nn.Sequential(nn.Linear(32, 8), nn.RMSNorm(8), nn.Tanh()).bfloat16(),
        lambda: [vectors()[0].bfloat16()],
    ),
    "autocast": (cast, vectors),
}


@pytest.mark.parametrize("case", CASES)
def test_equals_the_real_measurement(case):
    module, inputs = CASES[case]
    real = saved_bytes(module(), *inputs())
    assert real > 0
    assert at_full_scale(saved_bytes, module, inputs) == real


@pytest.mark.parametrize("case", ["batch-norm", "checkpoint", "block-fused", "embedding"])
def test_other_ways_to_measure_agree(case):
    from copy import deepcopy

    module, inputs = CASES[case]
    real = saved_bytes(module(), *inputs())
    by_address = lambda *a: saved_bytes(*a, key=lambda storage: storage.data_ptr())  # noqa: E731
    assert at_full_scale(by_address, module, inputs) == real
    assert at_full_scale(lambda *a: saved_bytes(*a, copier=deepcopy), module, inputs) == real


def test_torchvision():
    models = pytest.importorskip("torchvision.models")
    for name in ("resnet18", "mobilenet_v3_small"):
        make = getattr(models, name)
        inputs = lambda: [torch.randn(2, 3, 32, 32)]  # noqa: E731
        assert at_full_scale(saved_bytes, make, inputs) == saved_bytes(make(), *inputs())


def test_views_share_and_results_do_not():
    with weightless():
        x = torch.randn(6, 4)
        storages = {t.untyped_storage()._cdata for t in (x, x[2:], x.t(), x.view(-1), x.detach(), x.relu_())}
        assert len(storages) == 1
        y = x + 1
        assert y.untyped_storage()._cdata not in storages
        assert y.untyped_storage().nbytes() == 96
        assert x.expand(5, 6, 4).untyped_storage().nbytes() == 96
        assert type(y) is torch.Tensor


def test_costs_neither_memory_nor_random_numbers():
    generator = torch.get_rng_state()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    blocks = lambda: nn.Sequential(*(Block(4096, 32) for _ in range(32)))  # noqa: E731
    size = at_full_scale(saved_bytes, blocks, lambda: [torch.randn(4, 512, 4096)])
    assert size > 16 * 2**30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024  # KiB
    assert torch.equal(generator, torch.get_rng_state())


def address_space():
    """Bytes of this process's address space."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_address_space_is_given_back():
    """A pack hook that returns its tensor keeps what an operation saved of its own result alive, and all before it."""
    kept = []

    def keeping(module, *inputs):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            kept.append(module(*inputs))
        return 0

    layers = lambda: nn.Sequential(*(nn.ReLU() for _ in range(8)))  # noqa: E731
    at_full_scale(keeping, layers, lambda: [torch.randn(8, requires_grad=True)])  # loads what is loaded once
    before = address_space()
    at_full_scale(keeping, layers, lambda: [torch.randn(1 << 27, requires_grad=True)])  # half a GiB each
    assert address_space() - before < 1 << 30


def test_state_after_the_context_is_ordinary():
    with weightless():
        torch.randn(3)
    assert torch.ones(3).sum().item() == 3


@pytest.mark.parametrize(
    "run",
    [
        lambda m, x: m.a(x) if x.sum() > 0 else x,
        lambda m, x: m.a(x) * x.mean().item(),
        lambda m, x: m.a(x)[x[..., 0].nonzero()],
    ],
    ids=["branch", "item", "nonzero"],
)
def test_values_are_refused(run):
    with pytest.raises(FullScaleError, match="needs the values"):
        at_full_scale(saved_bytes, lambda: Lambda(run, a=nn.Linear(32, 32)), vectors)


def test_workspaces_are_refused():
    with pytest.raises(FullScaleError, match="workspace"):
        at_full_scale(saved_bytes, lambda: nn.EmbeddingBag(50, 8), ids)


def test_errors_of_the_module_come_through():
    with pytest.raises(RuntimeError, match=r"reduction dim|shape|size"):
        at_full_scale(saved_bytes, lambda: nn.Linear(7, 3), vectors)

"""Models, corpus and training parts of course_lib."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys

import pytest
import torch

import course_lib
from course_lib import (
    PAD,
    Block,
    Data,
    DropoutLanguageModel,
    Plan,
    TinyTransformer,
    fingerprint,
    fresh,
    make_data,
    make_optimizer,
    make_windows,
    samples,
    texts,
    vocabulary,
)

CONFIG = {"vocab_size": 11, "context": 9, "d_model": 8, "heads": 2, "layers": 2}


def test_config_rebuilds_the_architecture() -> None:
    for made in (
        TinyTransformer(**CONFIG, ffn=5, attention="manual"),
        DropoutLanguageModel(**CONFIG, dropout=0.3),
    ):
        again = type(made)(**made.config)
        again.load_state_dict(made.state_dict())
        ids = torch.arange(9)[None]
        assert again.config == made.config
        assert torch.equal(again.eval()(ids), made.eval()(ids))


def test_context_overflow_names_both_lengths() -> None:
    with pytest.raises(ValueError, match=r"10.*9"):
        TinyTransformer(**CONFIG)(torch.zeros(1, 10, dtype=torch.int64))


@pytest.mark.parametrize("attention", ["fused", "manual"])
def test_a_later_token_changes_nothing_before_it(attention: str) -> None:
    model = TinyTransformer(**CONFIG, attention=attention).double()
    ids = torch.randint(11, (2, 9))
    changed = ids.clone()
    changed[:, 5] = (ids[:, 5] + 1) % 11
    before, after = model(ids), model(changed)
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def test_fused_and_manual_attention_agree() -> None:
    fused = Block(12, 3, attention="fused").double()
    manual = Block(12, 3, attention="manual").double()
    manual.load_state_dict(fused.state_dict())
    x = torch.randn(2, 7, 12, dtype=torch.float64, requires_grad=True)
    gradients = [torch.autograd.grad(block(x).square().sum(), x)[0] for block in (fused, manual)]
    torch.testing.assert_close(fused(x), manual(x), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="heads"):
        Block(8, 3)
    with pytest.raises(ValueError, match="attention"):
        Block(8, 2, attention="linear")


def test_dropout_follows_the_global_generator() -> None:
    model = DropoutLanguageModel(**CONFIG, dropout=0.5)
    ids = torch.arange(9)[None]
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(model(ids))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])


def test_corpus_mixes_full_texts_and_first_sentences() -> None:
    chosen = samples()
    assert len(chosen) == len(texts()) >= 24
    assert all(whole.startswith(sample) for whole, sample in zip(texts(), chosen))
    sentences = [len(re.findall(r"[.?!]", sample)) for sample in chosen]
    assert set(sentences[1::2]) == {1}
    assert min(sentences[::2]) > 1


def test_windows_shift_and_pad() -> None:
    chosen = ["a b c d e f.", "b a"]
    vocab = vocabulary(chosen)
    assert vocab == ("<pad>", ".", "a", "b", "c", "d", "e", "f")
    x, y = make_windows(chosen, vocab, 4)
    assert x.tolist() == [[2, 3, 4, 5], [6, 7, 0, 0], [3, 0, 0, 0]]
    assert y.tolist() == [[3, 4, 5, 6], [7, 1, 0, 0], [2, 0, 0, 0]]


def test_windows_refuse_what_they_cannot_cut() -> None:
    with pytest.raises(ValueError, match="'c'"):
        make_windows(["a c"], ("<pad>", "a"), 4)
    with pytest.raises(ValueError, match="empty"):
        make_windows(["a a"], ("<pad>", "a"), 0)
    with pytest.raises(ValueError, match="two words"):
        make_windows(["a"], ("<pad>", "a"), 4)


def test_fingerprint_sees_every_part() -> None:
    data = make_data()
    seen = {data.fingerprint}
    x = data.x.clone()
    x[3, 2] += 1
    seen.add(fingerprint(x, data.y, data.vocab))
    seen.add(fingerprint(data.y, data.x, data.vocab))
    seen.add(fingerprint(data.x.reshape(-1, 12), data.y, data.vocab))
    seen.add(fingerprint(data.x, data.y, (*data.vocab[:-1], data.vocab[-1] + "s")))
    assert len(seen) == 5
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in seen)
    assert data.fingerprint == fingerprint(data.x.int(), data.y.clone(), list(data.vocab))


def test_data_has_unequal_rows() -> None:
    data = make_data()
    counts = data.y.ne(PAD).sum(1)
    assert len(set(counts.tolist())) > 5
    assert counts.min() >= 1
    assert torch.equal(data.x.ne(PAD), data.y.ne(PAD))
    assert int(data.x.max()) < len(data.vocab)


def test_plan_and_data_are_frozen() -> None:
    assert Plan() == Plan(12, 3, 3e-3, 3e-4, 16, 8, 1.0, 0.01)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Plan().total = 3  # type: ignore[misc]
    assert [field.name for field in dataclasses.fields(Data)] == ["x", "y", "vocab", "fingerprint"]


def test_fresh_runs_are_equal_for_equal_seeds() -> None:
    data, plan = make_data(), Plan(weight_decay=0.5)
    runs = [fresh(data, plan, seed) for seed in (4, 4, 5)]
    weights = [model.token.weight for model, _, _ in runs]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert weights[0].dtype == torch.float64
    assert torch.equal(runs[0][2].get_state(), runs[1][2].get_state())
    assert runs[0][1].param_groups[0]["weight_decay"] == 0.5
    assert isinstance(make_optimizer(runs[0][0], plan), torch.optim.AdamW)


def test_names_are_offered_in_one_place_and_loaded_late() -> None:
    offered = {"Plan", "Data", "fresh", "make_optimizer", "DropoutLanguageModel", "TinyTransformer", "Block"}
    assert offered <= set(course_lib.__all__)
    code = (
        "import sys, course_lib; assert 'torch' not in sys.modules; course_lib.make_data; assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

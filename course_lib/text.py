"""The course's own small text corpus, cut into padded windows of word ids with shifted targets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

import torch
from torch import Tensor

from course_lib.training import Data

PAD = 0
"""The id of padding: never predicted, in no loss."""

_PAD_WORD = "<pad>"


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks of `text`, in order."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


@cache
def texts() -> tuple[str, ...]:
    """The corpus: a few dozen original texts of some sentences each, one string per text."""
    source = resources.files("course_lib").joinpath("data", "texts.txt").read_text(encoding="utf-8")
    return tuple(line for line in source.splitlines() if line)


def samples() -> list[str]:
    """Every other text in full, of the others the first sentence only, so that token counts differ."""
    return [text if i % 2 == 0 else re.split(r"(?<=[.?!])\s", text, maxsplit=1)[0] for i, text in enumerate(texts())]


def vocabulary(of: Iterable[str]) -> tuple[str, ...]:
    """PAD's word, then the distinct words of the texts in alphabetical order; an id is a position in this tuple."""
    return (_PAD_WORD, *sorted({word for text in of for word in words(text)}))


def make_windows(of: Sequence[str], vocab: Sequence[str], length: int) -> tuple[Tensor, Tensor]:
    """Windows of each text and their targets: (x, y), both (n, length) int64.

    A text of k words gives ceil((k - 1) / length) windows, one after the other; y is x one word later, and both end in
    PAD where the text ends. ValueError for a length below 1, for a word that `vocab` does not hold, and when no text
    has two words.
    """
    if length < 1:
        raise ValueError(f"a window of {length} words is empty")
    ids = {word: i for i, word in enumerate(vocab)}
    rows: list[tuple[list[int], list[int]]] = []
    for text in of:
        tokens = [_lookup(word, ids) for word in words(text)]
        for start in range(0, len(tokens) - 1, length):
            window = tokens[start : start + length + 1]
            pad = [PAD] * (length + 1 - len(window))
            rows.append((window[:-1] + pad, window[1:] + pad))
    if not rows:
        raise ValueError("no text has two words")
    return torch.tensor([x for x, _ in rows]), torch.tensor([y for _, y in rows])


def _lookup(word: str, ids: dict[str, int]) -> int:
    try:
        return ids[word]
    except KeyError:
        raise ValueError(f"the vocabulary of {len(ids)} words does not hold {word!r}") from None


def fingerprint(x: Tensor, y: Tensor, vocab: Sequence[str]) -> str:
    """Hex SHA-256 of windows, targets and vocabulary; shapes and word boundaries count."""
    digest = hashlib.sha256()
    for t in (x, y):
        digest.update(repr(tuple(t.shape)).encode())
        digest.update(t.to(torch.int64).contiguous().numpy().astype("<i8").tobytes())
    digest.update(repr(tuple(vocab)).encode())
    return digest.hexdigest()


def make_data(of: Sequence[str] | None = None, length: int = 24) -> Data:
    """`Data` of the texts (default: `samples()`) in windows of `length` words."""
    chosen = samples() if of is None else of
    vocab = vocabulary(chosen)
    x, y = make_windows(chosen, vocab, length)
    return Data(x, y, vocab, fingerprint(x, y, vocab))

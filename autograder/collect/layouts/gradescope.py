"""Gradescope, "Export submissions": a `submission_123/` each, and `submission_metadata.yml` with the submitters."""

from __future__ import annotations

import re
from typing import Any

from autograder.collect.files import MAX_METADATA, File, Listing, Problem, Refused
from autograder.collect.hands import Claim, Hand, Reading
from autograder.collect.layouts.context import Context, put_aside
from autograder.collect.layouts.times import order_of, stamp_time
from autograder.collect.text import shown
from autograder.errors import UsageError

METADATA = "submission_metadata.yml"
_FOLDER = re.compile(r"submission_(?P<number>\d+)")
_WANTED = (":submitters", ":created_at", "submitters", "created_at")
_KEY = re.compile(r"  (?P<key>[:\w]+):(?: |$)")
_TOP = re.compile(r"\S")


def count(listing: Listing, context: Context) -> int:
    if not any(file.name == METADATA for file in listing.top_files):
        return 0
    return max(1, sum(_FOLDER.fullmatch(name) is not None for name in listing.top_folders))


def read(listing: Listing, context: Context) -> Reading:
    reading = Reading("gradescope")
    metadata = _metadata(next(file for file in listing.top_files if file.name == METADATA))
    for name, files in listing.by_folder().items():
        if name in metadata or _FOLDER.fullmatch(name):
            reading.hands.append(_hand(name, files, metadata.pop(name, {})))
        else:
            put_aside(reading, files, "Gradescope")
    for name in metadata:
        reading.unplaced.append((shown(name), Problem("is in the metadata without a folder", "export the files again")))
    put_aside(reading, (file for file in listing.top_files if file.name != METADATA), "Gradescope")
    return reading


def _hand(name: str, files: list[File], about: dict[str, Any]) -> Hand:
    people = [_claim(name, person) for person in _get(about, "submitters") or [] if isinstance(person, dict)]
    hand = Hand(people or [Claim(name)], files, [name])
    when = stamp_time(str(_get(about, "created_at") or ""))
    number = _FOLDER.fullmatch(name)
    if when is not None:
        hand.submitted, hand.order = when.isoformat(), order_of(when)
    elif number is not None:
        hand.order = (0, int(number["number"]))  # Gradescope numbers submissions as they come
    if not people:
        hand.odd.append(Problem("the metadata names no submitter", "see whose it is in Gradescope"))
    return hand


def _claim(folder: str, person: dict[str, Any]) -> Claim:
    sid, email, name = (str(_get(person, key) or "").strip() for key in ("sid", "email", "name"))
    ids = [(column, sid) for column in ("id", "sis_id") if sid] + [("email", email)] * bool(email)
    return Claim(sid or email or name or folder, tuple(ids), name)


def _get(mapping: dict[str, Any], key: str) -> Any:
    """Ruby writes symbols as keys: `:name`."""
    return mapping.get(f":{key}", mapping.get(key))


def _metadata(file: File) -> dict[str, dict[str, Any]]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        text = file.read(MAX_METADATA).decode("utf-8-sig")
        node = YAML(typ="safe", pure=True).compose(_relevant(text))
        data = _plain(node, 0)
    except Refused as error:
        raise UsageError(f"{file.origin}: {error}") from None
    except (YAMLError, UnicodeError, ValueError, RecursionError):
        raise UsageError(
            f"{file.origin} is not the YAML of a Gradescope export; export the submissions again"
        ) from None
    if not isinstance(data, dict):
        raise UsageError(f"{file.origin} lists no submissions; export them again")
    return {str(name): about if isinstance(about, dict) else {} for name, about in data.items()}


def _relevant(text: str) -> str:
    """The lines with submitters and times: the results of hundreds of autograder runs need not be parsed."""
    kept, keep = [], True
    for line in text.splitlines():
        if _TOP.match(line):
            keep = True
        elif match := _KEY.match(line):
            keep = match["key"] in _WANTED
        if keep:
            kept.append(line)
    return "\n".join(kept)


def _plain(node: Any, depth: int) -> Any:
    """Mappings, lists and texts, whatever their tags; five levels are all that is looked at."""
    if node is None or depth > 5:
        return None
    if node.id == "mapping":
        return {str(key.value): _plain(value, depth + 1) for key, value in node.value if key.id == "scalar"}
    if node.id == "sequence":
        return [_plain(item, depth + 1) for item in node.value[:1000]]
    return None if str(node.tag).endswith(":null") else str(node.value)

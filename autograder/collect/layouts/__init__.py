"""The layouts in which platforms hand out a class's work: told apart by their names, read into hand-ins."""

from __future__ import annotations

from collections.abc import Callable

from autograder.collect import Layout
from autograder.collect.archives import is_archive, list_archive
from autograder.collect.files import MAX_FILE, Listing, Refused
from autograder.collect.hands import Reading
from autograder.collect.layouts import blackboard, brightspace, canvas, gradescope, moodle, trees
from autograder.collect.layouts.context import Context
from autograder.errors import UsageError

__all__ = ["Context", "read_layout"]

Count = Callable[[Listing, Context], int]
Read = Callable[[Listing, Context], Reading]

_LAYOUTS: dict[Layout, tuple[Count, Read]] = {
    Layout.GRADESCOPE: (gradescope.count, gradescope.read),
    Layout.CANVAS: (canvas.count, canvas.read),
    Layout.BLACKBOARD: (blackboard.count, blackboard.read),
    Layout.MOODLE: (moodle.count, moodle.read),
    Layout.BRIGHTSPACE: (brightspace.count, brightspace.read),
    Layout.NBGRADER: (trees.count_nbgrader, trees.read_nbgrader),
    Layout.GITHUB: (trees.count_clones, trees.read_clones),
    Layout.FOLDER: (trees.count_folders, trees.read_folders),
}
_NAMED = [layout for layout in _LAYOUTS if layout is not Layout.FOLDER]


def read_layout(listing: Listing, context: Context, layout: Layout) -> Reading:
    """The hand-ins of a download.

    Raises:
        UsageError: it is in no layout that is known, or not in the one that was asked for.
    """
    reading = _read(listing, context, layout)
    reading.unplaced += listing.unplaced
    return reading


def _read(listing: Listing, context: Context, layout: Layout) -> Reading:
    wanted = _NAMED if layout is Layout.AUTO else [layout]
    level: Listing | None = listing
    while level is not None:
        counts = {name: _LAYOUTS[name][0](level, context) for name in wanted}
        best = max(counts, key=lambda name: counts[name])
        if counts[best]:
            return _LAYOUTS[best][1](level, context)
        level = _inside(level)
    if layout is Layout.AUTO:
        return trees.read_folders(trees.class_level(listing, context), context)
    what = ", ".join(_seen(listing)) or "nothing"
    raise UsageError(
        f"the source is not in the layout {layout.value}: it holds {what}; leave out --layout to detect it"
    )


def _inside(listing: Listing) -> Listing | None:
    """One level further in, where there is only one way: a wrapping folder, or an archive in the archive."""
    folders, files = listing.top_folders, listing.top_files
    if len(folders) == 1 and not files:
        return listing.below(folders[0])
    if not folders and len(files) == 1 and is_archive(files[0]) and files[0].problem is None:
        import io

        try:
            return list_archive(io.BytesIO(files[0].read(MAX_FILE)), f"{files[0].origin}!")
        except Refused as error:
            raise UsageError(f"the archive in the source is refused: {error}") from None
    return None


def _seen(listing: Listing) -> list[str]:
    from autograder.collect.text import shown

    names = [*listing.top_folders, *(file.name for file in listing.top_files)]
    return [shown(name) for name in names[:5]]

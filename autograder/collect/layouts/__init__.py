"""The layouts in which platforms hand out a class's work: told apart by their names, read into hand-ins."""

from __future__ import annotations

from collections.abc import Callable

from autograder.collect import Layout
from autograder.collect.files import Listing
from autograder.collect.hands import Reading
from autograder.collect.layouts import blackboard, brightspace, canvas, gradescope, moodle, trees
from autograder.collect.layouts.context import Context
from autograder.collect.text import shown
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
        level = trees.inside(level)
    if layout is Layout.AUTO:
        return trees.read_folders(trees.class_level(listing, context), context)
    what = ", ".join(_seen(listing)) or "nothing"
    raise UsageError(
        f"the source is not in the layout {layout.value}: it holds {what}; leave out --layout to detect it"
    )


def _seen(listing: Listing) -> list[str]:
    names = [*listing.top_folders, *(file.name for file in listing.top_files)]
    return [shown(name) for name in names[:5]]

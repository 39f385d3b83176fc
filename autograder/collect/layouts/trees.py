"""A folder per student: as staff make them, as nbgrader keeps them, as GitHub Classroom clones them."""

from __future__ import annotations

import io

from autograder.collect.archives import is_archive, list_archive
from autograder.collect.files import MAX_FILE, MIB, File, Listing, Problem, Refused, suffix
from autograder.collect.hands import Claim, Hand, Reading
from autograder.collect.layouts.context import Context, put_aside, without_prefix
from autograder.collect.layouts.times import order_of, stamp_time
from autograder.collect.text import shown
from autograder.errors import UsageError

TIMESTAMP = "timestamp.txt"
_NBGRADER_FOLDERS = {"submitted", "release", "source", "autograded", "feedback"}


def count_folders(listing: Listing, context: Context) -> int:
    return len(listing.top_folders) + sum(is_archive(file) for file in listing.top_files)


def read_folders(listing: Listing, context: Context) -> Reading:
    """A folder (or an archive) per student, named by any key or name of the student."""
    reading, strangers = Reading("folder"), []
    for name, files in listing.by_folder().items():
        reading.hands.append(Hand([Claim(name, anything=name)], files, [name]))
    for file in listing.top_files:
        if file.problem is None and is_archive(file):
            stem = file.name[: -len(suffix(file.name))]
            reading.hands.append(Hand([Claim(stem, anything=stem)], [file], [file.origin]))
        else:
            strangers.append(file)
    put_aside(reading, strangers, "folders of students")
    return reading


def class_level(listing: Listing, context: Context) -> Listing:
    """The level at which the folders are students: a single folder around them is unwrapped.

    Raises:
        UsageError: there are no folders, or it cannot be told which ones are the students'.
    """
    if not count_folders(listing, context):
        raise UsageError(
            "the source holds no hand-ins in a layout that is known; 'autograder collect --help' names the layouts"
        )
    level, around = listing, ""
    while not any(_is_known(name, context) for name in _children(level)):
        inner = inside(level)
        if inner is None or not count_folders(inner, context) or _has_own_file(inner):
            break
        level, around = inner, _children(level)[0]
    if around and len(_children(level)) == 1 and not _is_known(_children(level)[0], context):
        raise UsageError(
            f"it cannot be told whether {shown(around)!r} is a student or holds one; "
            "name the folder that holds a folder per student and add --layout folder"
        )
    return level


def inside(listing: Listing) -> Listing | None:
    """One level further in, where there is only one way: a wrapping folder, or an archive in the archive."""
    folders, files = listing.top_folders, listing.top_files
    if len(folders) == 1 and not files:
        return listing.below(folders[0])
    if folders or len(files) != 1 or not is_archive(files[0]) or files[0].problem is not None:
        return None
    try:
        return list_archive(io.BytesIO(files[0].read(MAX_FILE)), f"{files[0].origin}!")
    except Refused:  # stays what it is: one entry, to be listed
        return None


def _children(listing: Listing) -> list[str]:
    """What may be students: folders, and archives without their ending."""
    archives = [file.name for file in listing.top_files if is_archive(file)]
    return [*listing.top_folders, *(name[: -len(suffix(name))] for name in archives)]


def _is_known(name: str, context: Context) -> bool:
    return context.roster is not None and isinstance(context.roster.find(Claim(name, anything=name)), list)


def _has_own_file(listing: Listing) -> bool:
    """Whether the folder itself holds work, so that it is a student's and no wrapping."""
    return any(suffix(file.name) in (".py", ".ipynb", ".pdf") for file in listing.top_files)


def count_nbgrader(listing: Listing, context: Context) -> int:
    tree = _submitted(listing)
    loose = any(len(file.path) < 3 for file in tree.files)
    if tree is listing and loose:  # a student's folder with files of its own is not nbgrader's
        return 0
    return sum(context.assignment in inner.top_folders for inner in tree.split().values())


def read_nbgrader(listing: Listing, context: Context) -> Reading:
    """`submitted/<student>/<assignment>/`, with the time in a file of its own."""
    reading, tree = Reading("nbgrader"), _submitted(listing)
    for student, inner in tree.split().items():
        if context.assignment in inner.top_folders:
            reading.hands.append(_nbgrader_hand(student, context.assignment, inner))
        elif not set(inner.top_folders) <= context.assignments:
            problem = Problem(f"has no folder {context.assignment}", "see whether another one holds the hand-in")
            reading.hands.append(Hand([Claim(student, anything=student)], [], [student], odd=[problem]))
    put_aside(reading, (file for file in tree.files if len(file.path) < 3), "nbgrader")
    return reading


def _nbgrader_hand(student: str, assignment: str, inner: Listing) -> Hand:
    hand = Hand([Claim(student, anything=student)], [], [f"{student}/{assignment}"])
    for file in inner.by_folder()[assignment]:
        if file.path == (TIMESTAMP,) and file.problem is None:
            _set_time(hand, file)
        else:
            hand.files.append(file)
    return hand


def _submitted(listing: Listing) -> Listing:
    folders = {name for name in listing.top_folders if name in _NBGRADER_FOLDERS}
    return listing.below("submitted") if "submitted" in folders else listing


def _set_time(hand: Hand, file: File) -> None:
    try:
        when = stamp_time(file.read(MIB).decode("utf-8", "replace"))
    except Refused as error:
        hand.odd.append(error.problem)
        return
    if when is None:
        hand.odd.append(Problem("its timestamp.txt holds no time", "see when it was handed in"))
    else:
        hand.submitted, hand.order = when.isoformat(), order_of(when)


def count_clones(listing: Listing, context: Context) -> int:
    folders = listing.top_folders
    clones = sum((name,) in listing.clones for name in folders)
    named = sum(name.casefold().startswith(context.assignment.casefold() + "-") for name in folders)
    if len(folders) == 1 and not clones and count_clones(listing.below(folders[0]), context):
        return 0  # the folder around the clones is called `hw1-submissions`
    return max(clones, named) if 2 * max(clones, named) > len(folders) else 0


def read_clones(listing: Listing, context: Context) -> Reading:
    """`<assignment>-<GitHub user>/`, each a clone; what git keeps is not looked at."""
    reading = Reading("github")
    folders = listing.by_folder()
    for name, user in without_prefix(folders, "-", "github", context).items():
        claim = Claim(user, (("github", user),)) if user else Claim(name, anything=name)
        reading.hands.append(Hand([claim], folders[name], [name]))
    put_aside(reading, listing.top_files, "GitHub Classroom")
    return reading

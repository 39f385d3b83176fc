"""Commands of the course staff: push canvas, push ags. Grades go straight into an LMS, once you have seen what changes.

Tokens and keys come from the environment or the system's keyring; there is no option for them, because a command line
is kept in a history and shown by `ps`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from autograder.cli.common import EXIT_FAILED, stderr, stdout
from autograder.cli.opening import By, Db, in_course, table_width
from autograder.cli.push_source import Source, open_source
from autograder.cli.student import Name
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.lms.options import Options
    from autograder.lms.push.deliver import Target
    from autograder.lms.push.lti_calls import Calls
    from autograder.lms.push.lti_items import Item, Wanted
    from autograder.lms.push.patience import Patience
    from autograder.lms.push.running import Pushed

Records = Annotated[
    Path | None,
    typer.Option(help="Take records instead of the gradebook; without a gradebook the default is grades/hwN."),
]
Roster = Annotated[Path | None, typer.Option(help="CSV: id, name, sis_id, canvas_id, lti_id, ...; default roster.csv.")]
Feedback = Annotated[bool, typer.Option("--feedback", help="Send a line of feedback too, as a comment.")]
MatchNames = Annotated[bool, typer.Option("--match-names", help="Find the rest by full names that occur once.")]
Zeros = Annotated[bool, typer.Option("--ignore-leading-zeros", help="Find the rest by digits without leading zeros.")]
MissingAsZero = Annotated[
    bool, typer.Option("--missing-as-zero", help="Send 0 for who handed nothing in; default: send nothing.")
]
Late = Annotated[
    str, typer.Option(metavar="deduct|leave", help="Deduct late penalties here, or leave that to the LMS.")
]
Rescale = Annotated[bool, typer.Option("--rescale", help="Convert points to the column's maximum.")]
Maximum = Annotated[
    str | None, typer.Option("--max", metavar="POINTS", help="The column's maximum, if the LMS is wrong.")
]
Decimals = Annotated[int | None, typer.Option(help="Digits to round to, once; default 2.")]
AllowErase = Annotated[
    bool, typer.Option("--allow-erase", help="Overwrite excuses, and grades of who is missing here.")
]
AllowRange = Annotated[
    bool, typer.Option("--allow-out-of-range", help="Send points below 0, above or out of another maximum.")
]
SkipAmbiguous = Annotated[bool, typer.Option("--skip-ambiguous", help="Leave out students who cannot be told apart.")]
SkipRefused = Annotated[bool, typer.Option("--skip-refused", help="Leave out grades that the LMS would not take.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would change, and send nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Send without asking.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")]

push = typer.Typer(
    name="push",
    help="Send grades into an LMS: shows what would change, asks, sends, and reads back what arrived.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def register(app: typer.Typer) -> None:
    app.add_typer(push, name="push")


@push.command()
def canvas(
    name: Name,
    course: Annotated[int, typer.Option(help="The number in the address of the course.")],
    assignment: Annotated[int, typer.Option(help="The number in the address of the assignment.")],
    url: Annotated[
        str, typer.Option(envvar="AUTOGRADER_CANVAS_URL", help="Where Canvas is: https://canvas.example.edu")
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    records: Records = None,
    roster: Roster = None,
    db: Db = None,
    author: By = None,
    feedback: Feedback = False,
    late: Late = "deduct",
    missing_as_zero: MissingAsZero = False,
    rescale: Rescale = False,
    max_points: Maximum = None,
    decimals: Decimals = None,
    match_names: MatchNames = False,
    ignore_leading_zeros: Zeros = False,
    allow_erase: AllowErase = False,
    allow_out_of_range: AllowRange = False,
    skip_ambiguous: SkipAmbiguous = False,
    skip_refused: SkipRefused = False,
    batch: Annotated[int, typer.Option(min=1, max=500, help="Students in one request.")] = 100,
    timeout: Timeout = 60.0,
    wait: Annotated[float, typer.Option(min=0.0, help="Seconds that Canvas may work on one batch.")] = 600.0,
    journal: Annotated[
        Path | None, typer.Option(help="Where open batches are kept; default .autograder/push beside course.yaml.")
    ] = None,
) -> None:
    """Send grades to an assignment in Canvas, in batches; safe to repeat, and to continue after it was stopped.

    The token is in AUTOGRADER_CANVAS_TOKEN, or in the keyring under the address of Canvas.
    Exit 0: everything is there. 1: something is in doubt or did not arrive. 2: nothing was sent.

    Example: autograder push canvas hw1 --url https://canvas.example.edu --course 1234 --assignment 880001 --dry-run
    """
    _require_packages("canvasapi", "keyring", "requests")
    from autograder.lms.push.canvas import Canvas
    from autograder.lms.push.canvas_calls import Connection, Place
    from autograder.lms.push.journal import Journal
    from autograder.lms.push.patience import require_safe
    from autograder.lms.push.secrets import find_token

    options = _options(name, late, max_points, decimals, feedback=feedback, missing_as_zero=missing_as_zero,
                       rescale=rescale, match_names=match_names, ignore_leading_zeros=ignore_leading_zeros,
                       allow_erase=allow_erase, allow_out_of_range=allow_out_of_range, allow_ambiguous=skip_ambiguous,
                       allow_refused=skip_refused)  # fmt: skip
    place = Place(require_safe(url, "--url"), course, assignment)
    token = find_token("AUTOGRADER_CANVAS_TOKEN", place.url)
    patience = _patience(timeout, wait)
    path = journal or _home() / f"{name}-canvas-{course}-{assignment}.json"
    with ExitStack() as stack:
        source = open_source(stack, name, records, roster, db, feedback=feedback)
        if source.database is not None and roster is not None:
            raise UsageError(f"the roster is that of the {source.label}", "enter yours with autograder gradebook "
                             "roster, or push records: --records grades/hwN")  # fmt: skip
        if not dry_run:
            stack.enter_context(_alone(path, place.label))
        batches = Journal(path, place.label)
        target = Canvas(Connection(place, token, patience), patience, batches, source.people, comments=feedback,
                        batch=batch)  # fmt: skip
        if not dry_run:
            target.settle()
        elif batches.open:
            patience.say("an earlier push was stopped, and Canvas may still be at it: a real run first waits for that")
        pushed = _run(source, target, options, "canvas api", dry_run=dry_run, yes=yes)
        source.log(pushed, "canvas api", place.label, options, author)
    raise typer.Exit(0 if pushed.ok else EXIT_FAILED)


@push.command()
def ags(
    name: Name,
    token_url: Annotated[
        str, typer.Option(envvar="AUTOGRADER_LTI_TOKEN_URL", help="The platform's address for access tokens.")
    ],
    client_id: Annotated[
        str, typer.Option(envvar="AUTOGRADER_LTI_CLIENT_ID", help="What the platform calls this tool.")
    ],
    lineitem: Annotated[str | None, typer.Option(metavar="URL", help="The column's line item.")] = None,
    lineitems: Annotated[
        str | None, typer.Option(metavar="URL", help="Instead: the course's line items, among which to look.")
    ] = None,
    resource_id: Annotated[str | None, typer.Option(help="What the tool called the column; default hwN.")] = None,
    tag: Annotated[str | None, typer.Option(help="And its tag, where several have that id.")] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the line item if there is none, out of the grades' maximum.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="The title of one that is made; default hwN.")] = None,
    members: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The course's members (NRPS), to find students by number or e-mail."),
    ] = None,
    user_id: Annotated[
        str, typer.Option(metavar="COLUMN", help="The roster's column with the platform's user ids.")
    ] = "lti_id",
    key_id: Annotated[str, typer.Option(help="The id (kid) of the key, as the platform knows it.")] = "",
    audience: Annotated[str, typer.Option(help="For whom the request for a token is; default its address.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    records: Records = None,
    roster: Roster = None,
    db: Db = None,
    author: By = None,
    feedback: Feedback = False,
    late: Late = "deduct",
    missing_as_zero: MissingAsZero = False,
    rescale: Rescale = False,
    max_points: Maximum = None,
    decimals: Decimals = None,
    match_names: MatchNames = False,
    ignore_leading_zeros: Zeros = False,
    allow_erase: AllowErase = False,
    allow_out_of_range: AllowRange = False,
    skip_ambiguous: SkipAmbiguous = False,
    skip_refused: SkipRefused = False,
    timeout: Timeout = 60.0,
) -> None:
    """Send scores to a line item of an LTI 1.3 platform (Assignment and Grade Services); safe to repeat.

    The tool's private key (PEM) is in AUTOGRADER_LTI_KEY, or in the keyring under the client id.
    Exit 0: everything is there. 1: something is in doubt or did not arrive. 2: nothing was sent.

    Example: autograder push ags hw1 --lineitem URL --token-url URL --client-id 10000000000001 --dry-run
    """
    _require_packages("jwt", "cryptography", "keyring", "requests")
    from autograder.lms.push.lti import Lti
    from autograder.lms.push.lti_items import Wanted, read_members
    from autograder.lms.push.lti_memory import Memory

    options = _options(name, late, max_points, decimals, feedback=feedback, missing_as_zero=missing_as_zero,
                       rescale=rescale, match_names=match_names, ignore_leading_zeros=ignore_leading_zeros,
                       allow_erase=allow_erase, allow_out_of_range=allow_out_of_range, allow_ambiguous=skip_ambiguous,
                       allow_refused=skip_refused)  # fmt: skip
    if (lineitem is None) == (lineitems is None):
        raise UsageError("which column is not clear", "give --lineitem, or --lineitems to look among the course's")
    _require_safe(lineitem=lineitem, lineitems=lineitems, members=members, token_url=token_url)
    wanted = Wanted(lineitems, resource_id or name, tag or "", label or name) if lineitems else None
    patience, where = _patience(timeout, 0.0), lineitem or lineitems or ""
    path = _home() / f"{name}-ags-{sha256(where.encode()).hexdigest()[:8]}.json"
    calls = _lti_calls(patience, token_url, client_id, key_id, audience)
    with ExitStack() as stack:
        source = open_source(stack, name, records, roster, db, feedback=feedback)
        if not dry_run:
            stack.enter_context(_alone(path, where))
        users = _users(user_id, source, members)
        item, make = _item(calls, lineitem, wanted, source, options.column_max, patience, create=create)
        known = read_members(calls, members) if members else []
        target = Lti(calls, item, users, known, patience, Memory(path), make)
        pushed = _run(source, target, options, "lti ags", dry_run=dry_run, yes=yes)
        source.log(pushed, "lti ags", target.item.url, options, author)
    raise typer.Exit(0 if pushed.ok else EXIT_FAILED)


def _run(source: Source, target: Target, options: Options, kind: str, *, dry_run: bool, yes: bool) -> Pushed:
    from autograder.lms.push.running import Order, push, say

    console = stdout(width=table_width())
    say(console, f"grades: {source.label}")
    order = Order(kind, source.collected, options, None if yes else _agreed, dry_run)
    return push(order, target, console)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nothing was sent: nobody is at the terminal to agree; look at the above, then add --yes")
    return typer.confirm("send this?", default=False)


def _options(name: str, late: str, max_points: str | None, decimals: int | None, **flags: bool) -> Options:
    from autograder.lms.numbers import parse
    from autograder.lms.options import Options

    full = parse(max_points) if max_points is not None else None
    if max_points is not None and (full is None or full <= 0):
        raise UsageError(f"--max {max_points!r} is no number of points", "for example --max 10")
    return Options(assignment=name, late=cast(Literal["deduct", "leave"], late), column_max=full, decimals=decimals,
                   **flags)  # type: ignore[arg-type]  # fmt: skip


def _patience(timeout: float, wait: float) -> Patience:
    from autograder.lms.push.patience import Patience
    from autograder.lms.push.running import say

    return Patience(timeout=timeout, job=wait, say=lambda text: say(stderr(), text))


def _require_safe(**addresses: str | None) -> None:
    from autograder.lms.push.patience import require_safe

    for name, address in addresses.items():
        if address is not None:
            require_safe(address, f"--{name.replace('_', '-')}")


def _home() -> Path:
    return in_course(".autograder", "push") or Path(".autograder", "push")


def _alone(path: Path, label: str) -> AbstractContextManager[None]:
    from autograder.lms.push.journal import alone

    return alone(path, label)


def _lti_calls(patience: Patience, token_url: str, client_id: str, key_id: str, audience: str) -> Calls:
    from autograder.lms.push.lti_calls import Calls
    from autograder.lms.push.lti_tokens import Registration, Tokens
    from autograder.lms.push.patience import session_for
    from autograder.lms.push.secrets import find_secret

    key = find_secret("private key of the tool", "AUTOGRADER_LTI_KEY", client_id)
    reading, writing = session_for(patience), session_for(replace(patience, tries=1))
    return Calls(Tokens(Registration(token_url, client_id, key_id, audience), key, reading), reading, writing)


def _users(column: str, source: Source, members: str | None) -> dict[str, str]:
    from autograder.lms.push.lti_users import users_of

    users = users_of(column, source.people, source.roster)
    if not users and members is None:
        raise UsageError(f"nobody's user id in the LMS is known: the roster has no column {column!r} with values",
                         "add it, name another with --user-id (canvas_id, for example), or give --members")  # fmt: skip
    return users


def _item(
    calls: Calls,
    url: str | None,
    wanted: Wanted | None,
    source: Source,
    maximum: Decimal | None,
    patience: Patience,
    *,
    create: bool,
) -> tuple[Item, Callable[[], Item] | None]:
    """The line item; or one without an address, and what makes it once you have agreed."""
    from autograder.lms.push.lti_items import Item, create_item, find_item, read_item

    if url is not None:
        return read_item(calls, url, maximum), None
    assert wanted is not None
    found = find_item(calls, wanted)
    if found is not None:
        return replace(found, maximum=maximum or found.maximum), None
    if not create:
        raise UsageError(f"no line item has resource id {wanted.resource_id!r}", "make one with --create, or name it "
                         "with --lineitem")  # fmt: skip
    full = {grade.max_score for grade in source.collected.grades if grade.max_score is not None}
    if maximum is None and len(full) != 1:
        raise UsageError("the grades do not say what a new line item is out of", "give it with --max")
    points = maximum or full.pop()
    return Item("", wanted.label, points), lambda: create_item(calls, wanted, points, patience)


def _require_packages(*names: str) -> None:
    from importlib.util import find_spec

    known = {"jwt": "PyJWT", "cryptography": "PyJWT[crypto]"}
    missing = [known.get(name, name) for name in names if find_spec(name) is None]
    if missing:
        fact = f"a push needs {' and '.join(missing)}, which is not installed"
        raise UsageError(fact, "pip install 'ml-systems-autograder[staff]'")

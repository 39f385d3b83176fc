"""The gradebook's database: versions, writers at the same time, rows that stay, PostgreSQL."""

from __future__ import annotations

import getpass
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from gradebook_support import Desk, course, record
from printed import words
from sqlalchemy import create_engine, select

from autograder.gradebook.database import create_database, database_url, newest_version, open_database
from autograder.gradebook.errors import GradebookError
from autograder.gradebook.tables import TABLES, Base, RosterEntry, Row

NOW = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)


_SWITCH = """\
import os, pwd, sys
user = pwd.getpwnam(sys.argv[1])
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
os.execv(sys.argv[2], sys.argv[2:])
"""


def as_user(user: str, command: list[str]) -> list[str]:
    """The command line that runs `command` as `user`, if that takes root to do.

    A small interpreter changes the user, not `subprocess.run(user=...)`: that forks this process, which another test
    may have made larger than the machine has memory for, while a plain start is a vfork and copies nothing.
    """
    return command if os.getuid() != 0 else [sys.executable, "-I", "-S", "-c", _SWITCH, user, *command]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """URL of a PostgreSQL server of our own, on a socket, run by a user who is not root."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL's server is not installed (no initdb)")
    pytest.importorskip("psycopg", reason="the driver psycopg is not installed")
    user = "nobody" if os.getuid() == 0 else getpass.getuser()
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as place:
        os.chmod(place, 0o755)
        if os.getuid() == 0:
            shutil.chown(place, user)

        def call(program: str, *arguments: str) -> None:
            command = [str(Path(initdb).with_name(program)), "-D", f"{place}/data", *arguments]
            done = subprocess.run(as_user(user, command), cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  check=False, timeout=120, env={**os.environ, "LC_ALL": "C.UTF-8"})  # fmt: skip
            assert done.returncode == 0, done.stderr

        call("initdb", "-U", "staff", "--auth=trust", "--no-sync", "-E", "UTF8")
        call("pg_ctl", "-w", "-l", f"{place}/log", "-o", f"-k {place} -c listen_addresses='' -c fsync=off", "start")
        try:
            yield f"postgresql://staff@/postgres?host={place}"
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if request.param == "sqlite":
        return str(tmp_path / "gradebook.db")
    url = request.getfixturevalue("server")
    name = f"t{abs(hash(request.node.name))}"
    with closing(_psycopg(url)) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.replace("/postgres?", f"/{name}?")


def _psycopg(url: str):  # type: ignore[no-untyped-def]
    import psycopg

    return psycopg.connect(url, autocommit=True)


def entry(student: str) -> RosterEntry:
    return RosterEntry(student=student, author="ta", time=NOW)


@pytest.mark.parametrize("start", [None, "1", "2"])
def test_every_version_becomes_the_newest_and_is_what_the_tables_say(place: str, start: str | None) -> None:
    if start is not None:
        with create_database(place, start)[0] as database:
            database.write(lambda session: session.add(entry("before")))
        with pytest.raises(GradebookError, match=f"is of version {start}, this program needs 3; keep a copy"):
            open_database(place)
    database, before = create_database(place)
    assert before == start
    with database:
        assert database.version() == newest_version()
        with database.read() as session:
            assert [row.student for row in session.scalars(select(RosterEntry))] == (["before"] if start else [])
    engine = create_engine(database_url(place))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()
    assert create_database(place)[1] == newest_version()


def test_the_database_itself_refuses_to_change_or_delete(place: str) -> None:
    with create_database(place)[0] as database:
        database.write(lambda session: session.add(entry("a")))

        def change(session):  # type: ignore[no-untyped-def]
            session.scalars(select(RosterEntry)).one().name = "other"

        def delete(session):  # type: ignore[no-untyped-def]
            session.delete(session.scalars(select(RosterEntry)).one())

        for attempt in (change, delete):
            with pytest.raises(GradebookError, match="never changed; add one"):
                database.write(attempt)
        with database.read() as session:
            assert session.scalars(select(RosterEntry)).one().name == ""


def test_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    create_database(str(path))[0].__exit__()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '99'")
    for use in (open_database, create_database):
        with pytest.raises(GradebookError, match="newer"):
            use(str(path))


def test_what_fails_midway_leaves_nothing(place: str) -> None:
    with create_database(place)[0] as database:

        def fail(session):  # type: ignore[no-untyped-def]
            session.add(entry("a"))
            session.flush()
            raise GradebookError("x", "y")

        with pytest.raises(GradebookError):
            database.write(fail)
        with database.read() as session:
            assert session.scalars(select(RosterEntry)).all() == []


def test_every_table_says_who_and_when() -> None:
    assert {table.name for table in Base.metadata.sorted_tables} == {table.__tablename__ for table in TABLES}
    assert all(issubclass(table, Row) for table in TABLES)


def both(desk: Desk, *commands: tuple[object, ...]) -> list[int]:
    """The commands at the same time, as real processes."""
    started = []
    for arguments in commands:
        command, environment = desk.command(*arguments)
        started.append(subprocess.Popen(command, cwd=desk.root, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True))  # fmt: skip
    ended = [(process.communicate(timeout=120)[1], process.returncode) for process in started]
    assert all(not error for error, _ in ended), ended
    return [code for _, code in ended]


def test_two_commands_that_write_at_once_both_succeed(place: str, tmp_path: Path) -> None:
    desk = course(tmp_path)
    desk.environment["AUTOGRADER_DB"] = place
    assert both(desk, ("init",), ("init",)) == [0, 0]
    assert both(desk, ("roster", "roster.csv"), ("roster", "roster.csv")) == [0, 0]
    assert desk.ok("log").count("here as") == 3
    desk.records(record("00451", 7.0))
    desk.ok("policy", "hw1", "--zone", "UTC")
    codes = both(
        desk,
        ("import", "hw1", "--yes"),
        ("import", "hw1", "--yes"),
        ("policy", "hw1", "--percent", "5"),
        ("policy", "hw1", "--cap", "50"),
    )
    assert codes == [0, 0, 0, 0]
    assert desk.grade("00451") == "7/10"
    assert "version 3" in desk.ok("policy", "hw1")
    assert "5% of the maximum per day begun, 50% at most" in desk.ok("policy", "hw1")
    log = desk.ok("log", "hw1")
    assert (log.count("results"), log.count("attempts")) == (1, 1)


def test_a_writer_waits_for_another_and_gives_up_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.gradebook.database._WAIT", 0.05)
    monkeypatch.setattr("autograder.gradebook.database._TRIES", 2)
    path = str(tmp_path / "gradebook.db")
    with create_database(path)[0] as database, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with database.read() as session:
            assert session.scalars(select(RosterEntry)).all() == []
        with pytest.raises(GradebookError, match="by others all the time; nothing was written"):
            database.write(lambda session: session.add(entry("a")))
        other.execute("ROLLBACK")
        database.write(lambda session: session.add(entry("a")))


def test_a_server_that_is_not_there_is_one_message_without_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the driver psycopg is not installed")
    done = course(tmp_path).run("show", "hw1", "--db", f"postgresql://staff:hush@/x?host={tmp_path}")
    assert done.returncode == 2
    assert "see that the database is there" in words(done.stderr)
    assert "hush" not in done.stderr


def test_the_whole_way_on_postgresql(server: str, tmp_path: Path) -> None:
    desk = course(tmp_path)
    desk.environment["AUTOGRADER_DB"] = server
    desk.ok("init")
    desk.ok("roster", "roster.csv")
    desk.records(record("00451", 8.0))
    desk.ok("import", "hw1", "--yes")
    desk.ok("policy", "hw1", "--due", "2026-10-02 23:59", "--zone", "Europe/Berlin", "--percent", "10")
    desk.ok("submitted", "hw1", "00451", "2026-10-03 12:00", "--reason", "mail")
    desk.ok("points", "hw1", "00451", "q1", "1/2")
    assert desk.grade("00451") == "7.8/12 (1.2 off for lateness)"
    desk.ok("override", "hw1", "00451", "9", "--reason", "x")
    desk.ok("extend", "hw1", "00451", "2026-10-04 12:00", "--reason", "x")
    assert desk.grade("00451") == "9/12"
    with open_database(server) as database:
        assert database.file is None
    assert desk.ok("log", "hw1").count("  ta  ") == 7

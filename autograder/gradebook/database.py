"""The gradebook's database: where it is, its version, and transactions that several commands may make at once.

A reader sees one moment. A writer takes the database for itself from its first statement (SQLite: BEGIN IMMEDIATE,
PostgreSQL: an advisory lock), so that what it decides from what it read still holds when it commits; when others
keep it waiting for too long it starts again, a bounded number of times.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from autograder.gradebook.errors import Busy, GradebookError

T = TypeVar("T")

FILE = "gradebook.db"
VARIABLE = "AUTOGRADER_DB"
_WAIT = 5.0
_TRIES = 8
_LOCK = 0x67726164
"""Of PostgreSQL's advisory locks, ours ("grad")."""
_RETRIED = {"40001", "40P01", "55P03"}
"""PostgreSQL: serialization failure, deadlock, lock not available."""


class Database:
    """An open gradebook; a context manager. Made by `open_database` and `create_database`."""

    def __init__(self, url: URL) -> None:
        self.label = url.database or "" if url.drivername == "sqlite" else url.render_as_string(hide_password=True)
        self.file = Path(url.database) if url.drivername == "sqlite" and url.database else None
        self._engine = _engine(url, self.label)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one moment and writes nothing."""
        with self._errors(), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with Session(connection, autoflush=False) as session:
                yield session

    def write(self, change: Callable[[Session], T]) -> T:
        """Run `change` in a transaction of its own, alone; it may run more than once, and only the last one counts."""

        def run(connection: Connection) -> T:
            with Session(connection) as session:
                done = change(session)
                session.flush()
                return done

        return self._alone(run)

    def version(self) -> str | None:
        """Of the tables; None when there are none."""
        with self._errors(), self._engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()

    def upgrade(self, version: str = "head") -> None:
        """Bring the tables to a version, whole or not at all."""
        if self.file is not None:
            self._retried(self._write_ahead)
        config = _config()

        def run(connection: Connection) -> None:
            config.attributes["connection"] = connection
            command.upgrade(config, version)

        self._alone(run)

    def _write_ahead(self) -> None:
        """SQLite: readers do not stop the writer, nor the writer them. A property of the file, set once."""
        with self._engine.connect() as connection:
            connection = connection.execution_options(autobegin_sqlite=False)
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")

    def _alone(self, run: Callable[[Connection], T]) -> T:
        def once() -> T:
            with self._engine.connect() as connection:
                connection = connection.execution_options(gradebook_writes=True)
                with connection.begin():
                    if connection.dialect.name == "postgresql":
                        connection.execute(text(f"SET LOCAL lock_timeout = '{int(_WAIT * 1000)}ms'"))
                        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                    return run(connection)

        return self._retried(once)

    def _retried(self, once: Callable[[], T]) -> T:
        with self._errors():
            for tries in range(_TRIES):
                try:
                    return once()
                except OperationalError as error:
                    if not _is_busy(error):
                        raise
                    time.sleep(random.uniform(0.05, 0.1) * 2**tries)  # who waited together shall not return together
        raise Busy(f"{self.label} is being written to by others all the time", "nothing was written; run this again")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What the database says, as fact, place, remedy: the first line of its message, without the statement."""
        try:
            yield
        except DBAPIError as error:
            first = str(error.orig).strip().partition("\n")[0]
            raise GradebookError(f"{self.label}: {first}", _remedy(first)) from None


def _engine(url: URL, label: str) -> Engine:
    arguments: dict[str, Any] = {"timeout": _WAIT} if url.drivername == "sqlite" else {"connect_timeout": 10}
    try:
        engine = create_engine(url, poolclass=NullPool, connect_args=arguments)
    except (ImportError, NoSuchModuleError) as error:
        fact = f"{label} needs a driver that is not installed ({error})"
        raise GradebookError(fact, "pip install 'psycopg[binary]' for PostgreSQL, or use a SQLite file") from None
    if url.drivername == "sqlite":
        event.listen(engine, "connect", _sqlite_connected)
        event.listen(engine, "begin", _sqlite_begins)
    return engine


def _sqlite_connected(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver would begin too late, and not before DDL
    connection.execute("PRAGMA foreign_keys=ON")


def _sqlite_begins(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("autobegin_sqlite", True):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("gradebook_writes") else "BEGIN")


def _is_busy(error: OperationalError) -> bool:
    state = getattr(error.orig, "sqlstate", None)
    return state in _RETRIED or "database is locked" in str(error.orig) or "database is busy" in str(error.orig)


def _remedy(fact: str) -> str:
    if "not a database" in fact or "malformed" in fact:
        return "it is damaged or no gradebook: restore a copy, or name another with --db"
    if "unable to open" in fact or "readonly" in fact:
        return "see that you may read and write the file and its folder"
    return "see that the database is there and that you may use it"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "autograder.gradebook:migrations")
    return config


def newest_version() -> str:
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def database_url(given: str) -> URL:
    """The database that `given` names: a URL, or else the path of a SQLite file.

    Raises:
        GradebookError: it is a URL of a kind that is not supported.
    """
    if "://" not in given:
        return URL.create("sqlite", database=str(Path(given).absolute()))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise GradebookError("the URL of the database cannot be read", "write postgresql://user@host/name") from None
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and url.database:
        return URL.create("sqlite", database=str(Path(url.database).absolute()))
    if url.drivername != "postgresql+psycopg":
        raise GradebookError(f"databases of the kind {url.drivername!r} are not supported",
                             "name a SQLite file, or a URL postgresql://user@host/name")  # fmt: skip
    return url


def open_database(given: str) -> Database:
    """The gradebook that is there.

    Raises:
        GradebookError: there is none, or it is of another version.
    """
    url = database_url(given)
    database = Database(url)
    if database.file is not None and not database.file.is_file():
        raise GradebookError(f"there is no gradebook {database.label}", "make one with: autograder gradebook init")
    found, newest = database.version(), newest_version()
    if found is None:
        raise GradebookError(f"{database.label} holds no gradebook", "make one with: autograder gradebook init")
    if not _is_known(found):
        raise GradebookError(f"{database.label} is of version {found}, newer than this program reads ({newest})",
                             "update the autograder")  # fmt: skip
    if found != newest:
        raise GradebookError(f"{database.label} is of version {found}, this program needs {newest}",
                             "keep a copy, then upgrade it with: autograder gradebook init")  # fmt: skip
    return database


def _is_known(version: str) -> bool:
    return any(script.revision == version for script in ScriptDirectory.from_config(_config()).walk_revisions())


def create_database(given: str, version: str = "head") -> tuple[Database, str | None]:
    """A gradebook of the newest version, made or upgraded, and the version that it had before.

    A new SQLite file is readable by its owner only; the files that SQLite keeps beside it inherit that.
    """
    database = Database(database_url(given))
    if database.file is not None:
        try:
            os.close(os.open(database.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise GradebookError(
                f"{database.label} cannot be made: {error.strerror}", "choose a folder with --db"
            ) from None
    before = database.version()
    if before is not None and not _is_known(before):
        raise GradebookError(
            f"{database.label} is of version {before}, newer than this program", "update the autograder"
        )
    database.upgrade(version)
    return database, before

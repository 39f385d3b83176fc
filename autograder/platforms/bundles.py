"""Building a bundle for one platform: a zip to upload, or a folder to copy into a repository."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

from autograder.course.errors import ReleaseError, shown
from autograder.isolation import Isolation
from autograder.kit import fill, project
from autograder.manifest import Assignment
from autograder.platforms import contents, settings
from autograder.platforms.contents import Files
from autograder.platforms.settings import PLATFORMS, Settings
from autograder.render.gradescope import HiddenAs

TARGETS = ("gradescope", "prairielearn", "github")
SCRIPTS = {"setup.sh", "run_autograder", "run.sh"}
_EPOCH = (2020, 1, 1, 0, 0, 0)
"""Fixed time stamps: the same course always gives the same zip."""
_QUESTIONS = uuid.UUID("6f0d7f0c-6c1f-5d8e-9a53-3c8f6f2f0b51")
"""Name space of the questions' identifiers, which must not change when a question is packaged again."""


class Order(NamedTuple):
    """What to build; `packaging.make` has checked `target` and `hidden_as`."""

    assignment: Assignment
    target: str
    out: Path
    isolation: Isolation = Isolation.AUTO
    memory_mib: int | None = None
    hidden_as: str = "hidden"
    image: str | None = None
    torch_index: str = ""
    """Address of a package index with CPU builds of torch; empty: the installer's own."""


def build(order: Order) -> Path:
    """Write the bundle; returns where it is. Raises UsageError with nothing written when it cannot be made."""
    if order.assignment.course.is_kit:
        message = f"{shown(order.assignment.course.root)} is the students' kit"
        raise ReleaseError(message, "package from the staff's copy of the course")
    makers: dict[str, Callable[[Order], Files]] = {
        "gradescope": gradescope,
        "prairielearn": prairielearn,
        "github": github,
    }
    files = dict(sorted(makers[order.target](order).items()))
    try:
        (_write_zip if order.target == "gradescope" else _write_folder)(order.out, files)
    except OSError as error:
        raise ReleaseError(
            f"{shown(order.out)} cannot be written: {error.strerror}", "choose another place with -o"
        ) from None
    return order.out


def gradescope(order: Order) -> Files:
    """The zip's files: scripts at its root, as Gradescope wants them."""
    return {
        "run_autograder": _script("gradescope/run_autograder"),
        **_image(order),
        **_grading(order, "gradescope"),
    }


def prairielearn(order: Order) -> Files:
    """`question/` goes into the course's repository, `image/` is what its image is built from."""
    image = order.image or f"{order.assignment.course.id.lower()}-autograder"
    tests = {"run.sh": _script("prairielearn/run.sh"), **_grading(order, "prairielearn")}
    build = {"Dockerfile": _script("prairielearn/Dockerfile"), **_image(order)}
    names = {"title": _html(order.assignment.title), "module": order.assignment.module}
    return {
        "question/info.json": _question(order.assignment, image),
        "question/question.html": fill("prairielearn/question.html", names).encode(),
        **{f"question/tests/{name}": data for name, data in tests.items()},
        **{f"image/{name}": data for name, data in build.items()},
    }


def github(order: Order) -> Files:
    """A workflow for the students' repository, beside the kit that `autograder release` writes."""
    needed = contents.requirements(order.assignment, hidden=False)
    extras = project().extras
    wanted = [name for name, texts in extras.items() if set(texts) & set(needed["requirements-torch.txt"])]
    values = {
        "id": order.assignment.id,
        "torch_index": f"--index-url {order.torch_index} " if order.torch_index else "",
        "torch": " ".join(f"'{text}'" for text in needed["requirements-torch.txt"]),
        "kit": f"'.[{','.join(wanted)}]'" if wanted else ".",
        "minutes": str(round(order.assignment.limits.total_seconds / 60) + 15),
    }
    return {".github/workflows/classroom.yml": fill("github/classroom.yml", values).encode()}


def _image(order: Order) -> Files:
    """What an image is built from; nothing in it is secret."""
    python = project().python.removeprefix(">=")
    files = {"setup.sh": _script("gradescope/setup.sh", python=f"{python} or newer", torch_index=order.torch_index)}
    files |= {name: "".join(f"{line}\n" for line in lines).encode()
              for name, lines in contents.requirements(order.assignment).items()}  # fmt: skip
    return files | {f"engine/{name}": data for name, data in contents.engine().items()}


def _grading(order: Order, platform: settings.Name) -> Files:
    """What grades, and what only the staff may see."""
    chosen = Settings(
        platform=platform,
        assignment=order.assignment.id,
        isolation=order.isolation,
        memory_mib=order.memory_mib or PLATFORMS[platform].memory_mib,
        hidden_as=cast(HiddenAs, order.hidden_as),
    )
    files = {settings.FILE: settings.write(chosen)}
    return files | {f"{settings.COURSE}/{name}": data for name, data in contents.course(order.assignment).items()}


def _question(assignment: Assignment, image: str) -> bytes:
    """The question's info.json. Source: PrairieLearn, https://docs.prairielearn.com/externalGrading/."""
    info = {
        "uuid": str(uuid.uuid5(_QUESTIONS, f"{assignment.course.id}/{assignment.id}")),
        "title": assignment.title,
        "topic": assignment.course.title,
        "tags": list(assignment.topics),
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": image,
            "entrypoint": "/grade/tests/run.sh",
            "timeout": PLATFORMS["prairielearn"].seconds,
            "enableNetworking": False,
        },
    }
    return (json.dumps(info, indent=2, ensure_ascii=False) + "\n").encode()


def _script(template: str, **values: str) -> bytes:
    """A script with line ends that a shell takes, wherever the course was checked out."""
    return fill(template, values).replace("\r\n", "\n").encode()


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _mode(name: str) -> int:
    return 0o755 if Path(name).name in SCRIPTS else 0o600 if name.endswith(contents.SECRET) else 0o644


def _write_zip(out: Path, files: Files) -> None:
    """Whole or not at all, readable by its owner only: it holds solutions and the secret."""
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise ReleaseError(f"{shown(out)} cannot be written", "give a file name in a folder that exists with -o")
    descriptor, temporary = tempfile.mkstemp(prefix=".package-", dir=out.absolute().parent)
    try:
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.create_system = 3  # Unix: the modes below count
                entry.external_attr = (0o100000 | _mode(name)) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
        os.replace(temporary, out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _write_folder(out: Path, files: Files) -> None:
    """The new or empty folder `out`, for its owner only; it appears when it is complete."""
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{shown(out)} is not an empty folder", "name a new one with -o, or remove it first")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as staging:
        folder = Path(staging) / "bundle"
        folder.mkdir(mode=0o700)
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(_mode(name))
        for path in folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)  # whatever the author's umask: a submission's user reads the engine
        if out.exists():
            out.rmdir()
        shutil.move(folder, out)

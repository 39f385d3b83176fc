"""`autograder package` and `autograder render`: bundles run as the platforms do it, and what is reported there."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from platform_support import HERE, ROOT, SECRET, Container, Ran, can_contain, can_deny, set_up, unpack, validate
from printed import words

from autograder import record as rec
from autograder.kit_version import kit_version
from autograder.manifest import load_course

Cli = Callable[..., subprocess.CompletedProcess[str]]
SOLUTION = ROOT / "solutions/hw1/softmax.py"
HIDDEN = ROOT / "solutions/hw1/test_hidden.py"
WRONG = """


def softmax_naive(x, y):
    print('only mine')
    for i in range(len(x)):
        y.store(i, 0.5)
"""
HOG = """


def softmax_safe(x, y):
    hold = []
    while True:
        hold.append(bytearray(32 << 20))
"""
needs_container = pytest.mark.skipif(not can_contain(), reason="this host gives no mount and network namespaces")
needs_denials = pytest.mark.skipif(
    not can_deny() or os.geteuid() != 0, reason="imitating Docker's denials needs root and the package pyseccomp"
)


def package(*arguments: object, secret: str = SECRET) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", "package", *map(str, arguments)]
    environment = {**os.environ, "AUTOGRADER_SECRET": secret}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("package") / "hw1.zip"
    done = package("hw1", "--for", "gradescope", "-o", out, "--no-rehearse")
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def image(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Container, list[str]]:
    """Gradescope's image after setup.sh, and what setup.sh asked of pip."""
    folder = tmp_path_factory.mktemp("image") / "autograder"
    source = folder / "source"
    source.mkdir(parents=True)
    unpack(archive, source)
    (folder / "run_autograder").write_bytes((source / "run_autograder").read_bytes())  # as their build does
    (folder / "run_autograder").chmod(0o755)
    venv, calls = set_up(source, folder.parent / "setup")
    return Container(folder, "autograder", venv), calls


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("package") / "hw1"
    done = package("hw1", "--for", "prairielearn", "-o", out, "--image", "example/grader", "--no-rehearse")
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def grade(question: Path, image: tuple[Container, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Container:
    """PrairieLearn's /grade with the question's tests; the image is the same engine."""
    folder = tmp_path_factory.mktemp("job") / "grade"
    folder.mkdir()
    (question / "question/tests").rename(folder / "tests")
    return Container(folder, "grade", image[0].venv)


# ------------------------------------------------------------------------------------------------- what a bundle holds
def test_gradescopes_zip_is_laid_out_as_documented(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(archive) as bundle:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in bundle.infolist()}
        scripts = {name: bundle.read(name) for name in ("setup.sh", "run_autograder")}
        secret = bundle.read("course/solutions/secret.txt").decode().strip()
        manifest = bundle.read("course/course.yaml").decode()
        settings = json.loads(bundle.read("bundle.json"))
    assert {name: modes[name] for name in scripts} == dict.fromkeys(scripts, 0o755)
    assert modes["course/solutions/secret.txt"] == 0o600
    assert all(text.startswith(b"#!/bin/bash\n") and b"\r" not in text for text in scripts.values())
    assert secret == SECRET
    assert "assignments: [hw1]" in manifest
    assert not [name for name in modes if name.startswith("course/solutions/hw") and "hw1/" not in name]
    assert {name.split("/")[1] for name in modes if name.startswith("engine/")} == {"autograder", "course_lib"}
    assert settings["memory_mib"] == 768


def test_the_same_course_gives_the_same_zip(archive: Path, tmp_path: Path) -> None:
    package("hw1", "--for", "gradescope", "-o", tmp_path / "again.zip", "--no-rehearse")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_the_image_gets_what_the_project_declares(image: tuple[Container, list[str]]) -> None:
    container, calls = image
    source = container.folder / "source"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*declared["dependencies"], *declared["optional-dependencies"]["sandbox"]]
    written = [(source / name).read_text().splitlines() for name in ("requirements-torch.txt", "requirements.txt")]
    assert sorted(written[0] + written[1]) == sorted(needed)
    pins = dict(line.split("==") for line in (source / "constraints.txt").read_text().splitlines())
    assert pins.keys() >= {"torch", "numpy"}
    assert "+" not in pins["torch"]
    assert "--index-url https://torch.example/cpu" in calls[0]
    assert "requirements-torch.txt" in calls[0]
    assert "requirements.txt" in calls[1]


def test_the_index_of_torch_is_the_one_that_was_named(tmp_path: Path) -> None:
    index = ("--torch-index", "https://torch.example/whl/cpu")
    package("hw1", "--for", "gradescope", "-o", tmp_path / "hw1.zip", "--no-rehearse", *index)
    with zipfile.ZipFile(tmp_path / "hw1.zip") as bundle:
        assert (
            "torch_index=${AUTOGRADER_TORCH_INDEX:-https://torch.example/whl/cpu}\n" in bundle.read("setup.sh").decode()
        )
    package("hw1", "--for", "github", "-o", tmp_path / "github", *index)
    workflow = (tmp_path / "github/.github/workflows/classroom.yml").read_text()
    assert "pip install --index-url https://torch.example/whl/cpu 'torch" in workflow


def test_setup_closes_the_source_and_opens_the_engine(image: tuple[Container, list[str]]) -> None:
    container, _ = image
    source = container.folder / "source"
    assert not [path for path in source.rglob("*") if path.stat().st_mode & 0o077]
    site = next(container.venv.glob("lib/python*/site-packages"))
    engine = {path.relative_to(site).as_posix() for path in (site / "autograder").rglob("*.py")}
    assert engine == {path.relative_to(ROOT).as_posix() for path in ROOT.glob("autograder/**/*.py")}
    assert all((site / name).stat().st_mode & 0o004 for name in engine)


def test_setup_says_when_there_is_no_python(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    (tmp_path / "apt-get").write_text("#!/bin/bash\n")
    (tmp_path / "apt-get").chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", image[0].folder / "source/setup.sh"], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no Python 3.11 or newer could be installed; choose a newer base image" in done.stderr


def test_hw6_brings_the_package_that_its_checks_require(tmp_path: Path) -> None:
    options = ("--hidden-as", "after_published", "--memory", "1536", "--isolation", "landlock")
    done = package("hw6", "--for", "gradescope", "-o", tmp_path / "hw6.zip", "--no-rehearse", *options)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "hw6.zip") as bundle:
        first = bundle.read("requirements-torch.txt").decode().split()
        names = bundle.namelist()
        settings = json.loads(bundle.read("bundle.json"))
    assert settings == {
        "format": 1,
        "platform": "gradescope",
        "assignment": "hw6",
        "isolation": "landlock",
        "memory_mib": 1536,
        "hidden_as": "after_published",
    }
    assert [re.match(r"\w+", text)[0] for text in first] == ["torch", "torchvision"]
    assert {"course/solutions/hw6/memory_budget.py", "course/solutions/hw6/driver.py"} <= set(names)


MISTAKES = {
    "platform": (("hw1", "--for", "gradscope"), "choose one of gradescope, prairielearn, github with --for"),
    "visibility": (("hw1", "--for", "gradescope", "--hidden-as", "secret"), "after_published"),
    "assignment": (("hw9", "--for", "gradescope"), "'hw9' is no assignment"),
    "place": (("hw1", "--for", "gradescope", "-o", "no/such/folder/x.zip"), "give a file name in a folder that exists"),
    "occupied": (("hw1", "--for", "github", "-o", str(HERE)), "is not an empty folder"),
    "file in the way": (("hw1", "--for", "github", "-o", f"{HERE}/conftest.py/out"), "choose another place with -o"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(mistake: str) -> None:
    arguments, expected = MISTAKES[mistake]
    done = package(*arguments)
    assert done.returncode == 2
    assert expected in words(done.stderr)
    assert "Traceback" not in done.stderr


def test_a_students_kit_cannot_be_packaged(tmp_path: Path) -> None:
    (tmp_path / "assignments").mkdir()
    (tmp_path / "course.yaml").write_bytes((ROOT / "course.yaml").read_bytes())
    (tmp_path / "assignments/hw1").symlink_to(ROOT / "assignments/hw1")
    command = [sys.executable, "-m", "autograder", "package", "hw1", "--for", "gradescope"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "package from the staff's copy of the course" in words(done.stderr)
    assert not list(tmp_path.glob("*.zip"))


def test_the_trial_proves_the_bundle_and_measures_it(tmp_path: Path) -> None:
    done = package("hw1", "--for", "gradescope", "-o", tmp_path / "hw1.zip", secret="")
    assert done.returncode == 0, done.stdout + done.stderr
    said = words(done.stdout)
    assert "the solution earns every point" in said
    assert "for the staff only" in said
    assert ("no secret is set" in said) != (ROOT / "solutions/secret.txt").exists()
    own, total = map(int, re.search(r"(\d+) MiB of memory, (\d+) MiB with", said).groups())
    assert 100 < own < 768
    assert own < total
    assert int(re.search(r"about (\d+) s on half a processor", said)[1]) < 600 / 2


# ---------------------------------------------------------------------------------------------------------- Gradescope
def check_gradescope(ran: Ran) -> dict[str, Any]:
    assert ran.status == 0, ran.log
    assert ran.results is not None, ran.log
    validate(ran.results, "gradescope")
    for test in ran.results["tests"]:
        assert test["score"] <= test.get("max_score", 0)
    assert ran.results["score"] == pytest.approx(sum(test["score"] for test in ran.results["tests"]), abs=1e-3)
    assert SECRET not in ran.text + ran.log
    return ran.results


@needs_container
def test_gradescope_gives_the_solution_every_point(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    ran = image[0].run(tmp_path, {"softmax.py": SOLUTION.read_text(), "notes.txt": "mine"})
    results = check_gradescope(ran)
    assert results["score"] == 100
    assert {test["visibility"] for test in results["tests"]} == {"visible", "hidden"}
    assert {test["visibility"] for test in ran.tests() if "hidden" in test["tags"]} == {"hidden"}
    assert results["extra_data"]["kit_version"] == kit_version(load_course(ROOT).assignment("hw1"))
    assert results["extra_data"]["secret"] == "course"
    assert "score: 100/100" in ran.log
    assert "yes landlock" in ran.log


@needs_container
@needs_denials
def test_where_docker_denies_namespaces_landlock_stands(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    ran = image[0].run(tmp_path, {"softmax.py": SOLUTION.read_text() + WRONG + HOG}, like_docker=True)
    results = check_gradescope(ran)
    assert results["extra_data"]["isolation"] == "landlock"
    assert {"landlock", "seccomp", "own user id"} <= set(results["extra_data"]["layers"])
    assert "no  mount namespace: " in ran.log
    assert 0 < results["score"] < 100
    failed = {test["name"].split(":")[0]: test["output"] for test in ran.tests(status="failed", visibility="visible")}
    assert "only mine" in failed["softmax_naive"]
    assert "hint: " in failed["softmax_naive"]
    assert "memory limit of 256 MiB reached" in failed["softmax_safe"]  # not the container's, which ends everything
    assert not [test for test in ran.tests(visibility="hidden") if "only mine" in test["output"]]
    assert not re.search(r"\b100\b|score", results["output"])  # the total would tell what hidden checks found


@needs_container
@pytest.mark.parametrize(
    "like_docker", [False, pytest.param(True, marks=needs_denials)], ids=["namespaces", "landlock"]
)
def test_a_hostile_submission_reaches_nothing(
    image: tuple[Container, list[str]], tmp_path: Path, like_docker: bool
) -> None:
    hostile = (HERE / "platform_hostile.py").read_text()
    ran = image[0].run(tmp_path, {"softmax.py": hostile}, like_docker=like_docker)
    results = check_gradescope(ran)
    assert results["score"] == 0
    said = "\n".join(test["output"] for test in ran.tests(visibility="visible"))
    attempts = dict(re.findall(r"ATTACK (.+?): (refused|SUCCESS)", said))
    aims = {"read everything", "find hidden checks", "remove the result", "daemon", "kill the grader", "network"}
    aims |= {"write /autograder/results/results.json", "read /autograder/source/course/solutions/secret.txt"}
    assert attempts.keys() >= aims
    assert set(attempts.values()) == {"refused"}
    line = max((text.strip() for text in HIDDEN.read_text().splitlines()), key=len)
    assert line not in ran.text
    assert [path.name for path in (tmp_path / "autograder/results").iterdir()] == ["results.json"]


@needs_container
def test_what_cannot_be_graded_is_said_to_the_student(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    for number, (files, expected) in enumerate(
        [({}, "it holds no file"), ({"sofmax.py": "", "a\x1b.txt": ""}, "it holds a\\x1b.txt, sofmax.py")]
    ):
        (tmp_path / str(number)).mkdir()
        ran = image[0].run(tmp_path / str(number), files)
        results = check_gradescope(ran)
        assert results["score"] == 0
        assert expected in ran.tests(visibility="visible", status="failed")[0]["output"]


@needs_container
def test_a_link_to_the_solution_is_no_hand_in(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    linked = tmp_path / "autograder"
    subprocess.run(["cp", "-R", image[0].folder, linked], check=True)
    (linked / "submission").mkdir()
    (linked / "submission/softmax.py").symlink_to("../source/course/solutions/hw1/softmax.py")
    (linked / "submission/more").symlink_to("../source/course/solutions/hw1")
    ran = image[0].start(linked, "/autograder/run_autograder", tmp_path, like_docker=False)
    assert check_gradescope(ran)["score"] == 0
    assert "There is no softmax.py in your upload (it holds no file)" in ran.text


@needs_container
def test_a_fault_of_the_grader_is_no_grade(image: tuple[Container, list[str]], tmp_path: Path) -> None:
    broken = tmp_path / "autograder"
    subprocess.run(["cp", "-R", image[0].folder, broken], check=True)
    (broken / "source/course/solutions/hw1/test_hidden.py").write_text("raise RuntimeError('a broken check')\n")
    (broken / "submission").mkdir()
    (broken / "submission/softmax.py").write_text(SOLUTION.read_text())
    (broken / "results").mkdir()
    (broken / "results/results.json").write_text('{"score": 100}')
    ran = image[0].start(broken, "/autograder/run_autograder", tmp_path, like_docker=False)
    assert ran.status == 3
    assert ran.results is None
    assert "this is not a grade" in ran.log
    assert "a broken check" in ran.log


# -------------------------------------------------------------------------------------------------------- PrairieLearn
def test_prairielearns_question_is_laid_out_as_documented(question: Path, grade: Container) -> None:
    info = json.loads((question / "question/info.json").read_text())
    assert (info["type"], info["gradingMethod"]) == ("v3", "External")
    options = info["externalGradingOptions"]
    assert options["image"] == "example/grader"
    assert options["entrypoint"] == "/grade/tests/run.sh"
    assert (options["enabled"], options["enableNetworking"], options["timeout"] <= 600) == (True, False, True)
    assert 'file-names="softmax.py"' in (question / "question/question.html").read_text()
    assert (grade.folder / "tests/run.sh").stat().st_mode & 0o111
    assert (grade.folder / "tests/course/solutions/secret.txt").read_text().strip() == SECRET
    assert (question / "image/Dockerfile").is_file()
    hidden = HIDDEN.read_bytes()
    for path in (path for path in question.rglob("*") if path.is_file()):
        assert SECRET.encode() not in path.read_bytes()
        assert path.read_bytes() != hidden


@needs_container
def test_prairielearn_gives_the_solution_full_marks(grade: Container, tmp_path: Path) -> None:
    ran = grade.run(tmp_path, {"softmax.py": SOLUTION.read_text()})
    assert ran.status == 0, ran.log
    validate(ran.results, "prairielearn")
    assert ran.results["score"] == 1.0
    assert sum(test["max_points"] for test in ran.results["tests"]) == pytest.approx(100)
    assert "finalize: hidden checks" in {test["name"] for test in ran.results["tests"]}
    assert len(ran.text) < 1 << 20


@needs_container
def test_prairielearn_takes_no_attempt_for_a_file_that_is_not_python(grade: Container, tmp_path: Path) -> None:
    ran = grade.run(tmp_path, {"softmax.py": "def softmax_naive(x, y:\n    pass\n"})
    assert ran.status == 0, ran.log
    validate(ran.results, "prairielearn")
    assert ran.results["gradable"] is False
    assert "not valid Python" in ran.results["format_errors"][0]
    assert "line 1" in ran.results["format_errors"][0]


@needs_container
def test_prairielearn_reports_a_fault_without_its_details(grade: Container, tmp_path: Path) -> None:
    """A check that needs a package the image lacks would lose its points to nobody's fault."""
    broken = tmp_path / "grade"
    subprocess.run(["cp", "-R", grade.folder, broken], check=True)
    checks = broken / "tests/course/solutions/hw1/test_public.py"
    checks.write_text(checks.read_text().replace("@check(", "@check(requires=['absent_package'],", 1))
    (broken / "student").mkdir()
    (broken / "student/softmax.py").write_text(SOLUTION.read_text())
    ran = grade.start(broken, "/grade/tests/run.sh", tmp_path, like_docker=False)
    assert ran.status == 0  # any other and PrairieLearn would not read the result
    validate(ran.results, "prairielearn")
    assert ran.results["gradable"] is False
    assert "not your fault" in ran.results["message"]
    assert "Traceback" not in ran.log + ran.text
    assert "absent_package" not in ran.log + ran.text


def test_the_scripts_run_below_another_root(
    image: tuple[Container, list[str]], grade: Container, tmp_path: Path
) -> None:
    """Where no container can be made, this much of them is still tried."""
    for container, script, student in ((image[0], "run_autograder", "submission"), (grade, "tests/run.sh", "student")):
        root = tmp_path / container.name
        subprocess.run(["cp", "-R", container.folder, root], check=True)
        (root / student).mkdir()
        environment = {"PATH": os.defpath, "AUTOGRADER_ROOT": str(root), "AUTOGRADER_VENV": str(container.venv)}
        done = subprocess.run([root / script], env=environment, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        results = json.loads((root / "results/results.json").read_text())
        validate(results, "gradescope" if container is image[0] else "prairielearn")
        assert "There is no softmax.py in your upload" in json.dumps(results)
        assert (root / "results").stat().st_mode & 0o777 == 0o700


# -------------------------------------------------------------------------------------------------------------- GitHub
def test_githubs_workflow_holds_public_checks_only(tmp_path: Path) -> None:
    done = package("hw1", "--for", "github", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert [p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()] == [
        ".github/workflows/classroom.yml"
    ]
    from ruamel.yaml import YAML

    workflow = YAML(typ="safe").load((tmp_path / "out/.github/workflows/classroom.yml").read_text())
    assert workflow["name"] == "Autograding Tests"
    assert list(workflow["jobs"]) == ["run-autograding-tests"]
    assert workflow["permissions"] == {"contents": "read"}
    script = workflow["jobs"]["run-autograding-tests"]["steps"][-1]["run"]
    assert "autograder run hw1 --public --json" in script
    assert SECRET not in script


@pytest.fixture(scope="module")
def wrong_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of the public checks on a wrong submission, made by the last step of the workflow."""
    folder = tmp_path_factory.mktemp("runner")
    package("hw1", "--for", "github", "-o", folder / "out")
    from ruamel.yaml import YAML

    workflow = YAML(typ="safe").load((folder / "out/.github/workflows/classroom.yml").read_text())
    script = workflow["jobs"]["run-autograding-tests"]["steps"][-1]["run"]
    course = folder / "repository"
    (course / "assignments").mkdir(parents=True)
    (course / "course.yaml").write_bytes((ROOT / "course.yaml").read_bytes())
    subprocess.run(["cp", "-R", ROOT / "assignments/hw1", course / "assignments"], check=True)
    (course / "assignments/hw1/softmax.py").write_text(SOLUTION.read_text() + WRONG)
    program = folder / "bin/autograder"
    program.parent.mkdir()
    program.write_text(f'#!/bin/bash\nexec "{sys.executable}" -P -m autograder "$@"\n')
    program.chmod(0o755)
    environment = {
        "PATH": f"{program.parent}:{os.defpath}",
        "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    # GitHub starts a step's script so: https://docs.github.com/en/actions/reference/workflow-syntax-for-github-actions
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    (folder / "log").write_text(done.stdout)
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


def test_the_workflow_reports_points_errors_and_a_summary(wrong_run: Path) -> None:
    log = (wrong_run / "log").read_text().splitlines()
    errors = [line for line in log if line.startswith("::error ")]
    begins = len(SOLUTION.read_text().splitlines()) + WRONG.splitlines().index("def softmax_naive(x, y):") + 1
    assert len(errors) == 1
    assert errors[0].startswith(f"::error file=assignments/hw1/softmax.py,line={begins},title=softmax_naive%3A ")
    record = json.loads((wrong_run / "hw1.json").read_text())
    assert f"::notice title=Autograding complete::Points {record['score']:g}/{record['max_score']:g}" in log
    report = next(line for line in log if line.startswith("::notice title=Autograding report::"))
    assert json.loads(report.partition("report::")[2]) == {
        "totalPoints": record["score"],
        "maxPoints": record["max_score"],
    }
    name, _, value = (wrong_run / "output").read_text().strip().partition("=")
    result = json.loads(base64.b64decode(value))
    validate(result, "classroom")
    assert name == "result"
    assert result["status"] == "fail"
    assert sum(test["score"] for test in result["tests"]) == pytest.approx(record["score"])
    summary = (wrong_run / "summary.md").read_text()
    assert "score so far, public checks only" in summary
    assert "only mine" in summary


# -------------------------------------------------------------------------------------------------------------- render
HOSTILE = "````\n</details>\n::error file=x::forged\x1b[31m<script>@everyone ``` | %0A"


def crafted(wrong_run: Path, **changes: Any) -> rec.Record:
    """The record of a run with every status and visibility, and with a submission that writes into the page."""
    record = rec.decode((wrong_run / "hw1.json").read_bytes())
    check = next(check for check in record.checks if check.status != "passed")
    statuses = ("failed", "crashed", "timed_out", "over_limit", "forbidden", "skipped", "not_implemented")
    many = [
        msgspec.structs.replace(
            check,
            id=f"{status}[{visibility}]",
            status=status,
            visibility=visibility,
            points=0.0,
            output=rec.Output(len(HOSTILE), HOSTILE if visibility == "visible" else None, False),
            failure=rec.Exception_("ValueError", HOSTILE, [rec.Frame(7, "softmax_naive", "raise ValueError(x)")]),
        )
        for status in statuses
        for visibility in ("visible", "hidden", "after_due_date")
    ]
    checks = [*record.checks, *many]
    return msgspec.structs.replace(record, checks=checks, totals=rec.totals(checks), **changes)


def rendered(cli: Cli, record: rec.Record, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "record.json").write_bytes(rec.encode(record))
    return cli("render", folder / "record.json", *arguments)


def test_visibility_is_translated(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    record = crafted(wrong_run)
    for options, hidden in (((), "hidden"), (("--hidden-as", "after_published"), "after_published")):
        done = rendered(cli, record, tmp_path, "--as", "gradescope", *options)
        results = json.loads(done.stdout)
        validate(results, "gradescope")
        shown = {test["name"][-20:]: test["visibility"] for test in results["tests"]}
        assert set(shown.values()) == {"visible", hidden, "after_due_date"}
        for test, check in zip(results["tests"], record.checks):
            assert test["visibility"] == {"hidden": hidden}.get(check.visibility, check.visibility)
            assert "\x1b" not in test["output"]
        assert len({test["number"] for test in results["tests"]}) == len(results["tests"])


def test_prairielearn_never_lists_what_is_hidden(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    record = crafted(wrong_run)
    results = json.loads(rendered(cli, record, tmp_path, "--as", "prairielearn").stdout)
    validate(results, "prairielearn")
    visible = [check for check in record.checks if check.visibility == "visible"]
    sums = [test for test in results["tests"] if test["name"].endswith(": hidden checks")]
    assert len(results["tests"]) == len(visible) + len(sums)
    assert [(test["message"], test["output"]) for test in sums] == [("0 of 14 pass", "")]


def test_a_page_of_markdown_cannot_be_written_by_a_submission(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    done = rendered(cli, crafted(wrong_run), tmp_path, "--as", "markdown")
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", done.stdout)
    assert "\x1b" not in done.stdout
    assert outside.count("<details>") == outside.count("</details>") > 10
    assert not re.search(r"<script|@everyone|^::", outside, re.MULTILINE)


def test_annotations_stay_commands_of_one_line(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    done = rendered(cli, crafted(wrong_run), tmp_path, "--as", "github")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if not re.match(r"::(error|notice) [a-z]+=", line)] == []
    assert "::error file=x::" not in done.stdout.replace("::error file=assignments", "")


def test_a_record_without_a_score_is_no_result(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    record = crafted(wrong_run, score=None)
    for form in ("gradescope", "classroom", "github"):
        done = rendered(cli, record, tmp_path, "--as", form)
        assert done.returncode == 3
        assert "Points" not in done.stdout
        assert "the grader itself failed" in words(done.stderr)
    results = json.loads(rendered(cli, record, tmp_path, "--as", "prairielearn").stdout)
    assert results["gradable"] is False


def test_a_selection_is_no_result(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    done = rendered(cli, crafted(wrong_run, selection="-k naive"), tmp_path, "--as", "gradescope")
    assert done.returncode == 2
    assert "which is no grade; run all of them" in words(done.stderr)


def test_render_says_what_it_cannot_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"score": 100}')
    done = cli("render", tmp_path / "r.json", "--as", "gradescope")
    assert done.returncode == 2
    assert "is no record of this version" in words(done.stderr)
    done = cli("render", tmp_path / "absent.json", "--as", "gradescope")
    assert "cannot be read" in words(done.stderr)
    done = cli("render", tmp_path / "r.json", "--as", "canvas")
    assert done.returncode == 2


def test_a_rendered_file_is_its_owners(cli: Cli, wrong_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    done = rendered(cli, crafted(wrong_run), tmp_path, "--as", "prairielearn", "-o", str(out))
    assert done.returncode == 0
    assert out.stat().st_mode & 0o777 == 0o600
    validate(json.loads(out.read_text()), "prairielearn")

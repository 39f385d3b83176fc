"""Manifests and corpus: what is accepted, and that every mistake is told with its line and a remedy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from autograder.course.schemas import schemas
from autograder.manifest import CourseError, ManifestError, find_course, load_corpus

COURSE = "format: 1\nid: demo\ntitle: A course\nassignments: [hw1, hw2]\n"

ASSIGNMENT = """\
format: 1
id: hw1
title: Sums
module: sums.py
topics: [sums]
stubs:
  - name: total
    title: The total
    hints:
      - Begin with zero.
  - name: mean
    title: The mean
release: [README.md, test_public.py]
driver: driver.py
notebook_accepted: false
limits:
  check_seconds: 5
  memory_mib: 512
"""

SOLUTION = '''\
"""Sums."""

from __future__ import annotations


def total(values):
    ### BEGIN SOLUTION
    return sum(values)
    ### END SOLUTION


def mean(values):
    ### BEGIN SOLUTION
    return total(values) / len(values)
    ### END SOLUTION
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    source = tmp_path / "solutions" / "hw1"
    source.mkdir(parents=True)
    (tmp_path / "course.yaml").write_text(COURSE)
    (source / "assignment.yaml").write_text(ASSIGNMENT)
    (source / "sums.py").write_text(SOLUTION)
    return tmp_path


def test_the_course_is_found_from_any_folder_or_file_below_it(root: Path) -> None:
    course = find_course(root / "solutions" / "hw1" / "sums.py")
    assert (course.root, course.id, course.assignments) == (root.resolve(), "demo", ["hw1", "hw2"])
    assert course.secret_file == "solutions/secret.txt"


def test_an_assignment_knows_its_files(root: Path) -> None:
    assignment = find_course(root).assignment("hw1")
    source, student = root / "solutions/hw1", root / "assignments/hw1"
    assert assignment.stub_names == ["total", "mean"]
    assert assignment.stub("total").hints == ["Begin with zero."]
    assert (assignment.limits.check_seconds, assignment.limits.memory_mib, assignment.limits.output_mib) == (5, 512, 4)
    assert (assignment.source_dir, assignment.student_dir) == (source, student)
    assert assignment.student_module == student / "sums.py"
    assert assignment.solution_path == source / "sums.py"
    assert (assignment.has_hidden, assignment.hidden_checks) == (False, None)
    assert assignment.public_checks == student / "test_public.py"
    for name in ("test_public.py", "test_hidden.py", "driver.py"):
        (source / name).touch()
    assert assignment.public_checks == source / "test_public.py"
    assert assignment.hidden_checks == source / "test_hidden.py"
    assert assignment.driver_path == source / "driver.py"


def test_a_kit_reads_the_released_manifest_and_has_no_solution(root: Path) -> None:
    (root / "solutions").rename(root / "assignments")
    course = find_course(root)
    assignment = course.assignment("hw1")
    assert course.is_kit
    assert (assignment.source_dir, assignment.solution_path, assignment.has_hidden) == (None, None, False)
    assert load_corpus(assignment) == []


def test_the_secret_comes_from_the_environment_then_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOGRADER_SECRET", raising=False)
    course = find_course(root)
    assert course.secret() is None
    (root / "solutions/secret.txt").write_text("from the file\n")
    assert course.secret() == b"from the file"
    monkeypatch.setenv("AUTOGRADER_SECRET", "from outside")
    assert course.secret() == b"from outside"


MISTAKES = [
    ("driver: ", "drivr: ", 14, "drivr: unknown key; did you mean 'driver'?"),
    ("    title: The mean", "    titel: The mean", 12, "stubs[1].titel: unknown key; did you mean 'title'?"),
    ("memory_mib: 512", "memory: 512", 18, "limits.memory: unknown key; did you mean 'memory_mib'?"),
    ("memory_mib: 512", "memory_mib: lots", 18, "limits.memory_mib: needs a whole number, not 'lots'"),
    ("check_seconds: 5", "check_seconds: 0", 17, "limits.check_seconds: needs a number > 0.0, not 0"),
    ("format: 1", "format: 2", 1, "format: 2 is not a format that this version reads (1); update the autograder"),
    ("format: 1", "format: 1\nformat: 1", 2, "format: the key is there twice; keep one"),
    ("id: hw1", "id: hw2", 2, "id: is 'hw2' in the folder of 'hw1'; write 'id: hw1'"),
    ("title: Sums\n", "", 1, "the key 'title' is missing; add 'title: ...'"),
    ("title: Sums", "title: Sums: all", 3, "not valid YAML"),
    ("title: Sums", "title:", 3, "title: needs text"),
    ("title: Sums", "title: 2026-01-31", 3, "put text into quotes"),
    ("module: sums.py", "module: ../sums.py", 4, "module: needs text matching regex"),
    ("topics: [sums]", "topics: sums", 5, "topics: needs a list, not 'sums'"),
    ("notebook_accepted: false", "notebook_accepted: no", 15, "notebook_accepted: needs true or false, not 'no'"),
    ("name: mean", "name: total", 11, "stubs[1]: 'total' is listed twice; keep one"),
    ("README.md", "test_hidden.py", 13, "release[0]: 'test_hidden.py' holds the hidden checks"),
    ("README.md", "corpus/right/a.py", 13, "release[0]: 'corpus/right/a.py' is the corpus"),
    ("README.md", "../hw2/sums.py", 13, "release[0]: '../hw2/sums.py' leaves the assignment's folder"),
    ("README.md", "sums.py", 13, "release[0]: 'sums.py' is released anyway"),
    ("driver.py", "sums.py", 14, "driver: 'sums.py' is not a module of its own"),
]


@pytest.mark.parametrize(("good", "bad", "line", "message"), MISTAKES, ids=[mistake[3][:30] for mistake in MISTAKES])
def test_a_mistake_is_told_with_its_line(root: Path, good: str, bad: str, line: int, message: str) -> None:
    path = root / "solutions/hw1/assignment.yaml"
    assert good in ASSIGNMENT
    path.write_text(ASSIGNMENT.replace(good, bad, 1))
    with pytest.raises(ManifestError) as raised:
        find_course(root).assignment("hw1")
    assert (raised.value.path, raised.value.line) == (path, line)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("contents", "line"),
    [(b"", 1), (b"- a list", 1), (b"id: hw1\ntitle: \xff", 2), (b"id: \x07", 1), (b"a: &a [*a]", 1)],
)
def test_what_is_no_manifest_at_all_is_an_error_of_the_file(root: Path, contents: bytes, line: int) -> None:
    (root / "solutions/hw1/assignment.yaml").write_bytes(contents)
    with pytest.raises(ManifestError) as raised:
        find_course(root).assignment("hw1")
    assert raised.value.line == line


def test_unknown_names_are_answered_with_known_ones(root: Path) -> None:
    with pytest.raises(CourseError, match=r"'hw11' is no assignment of .*; did you mean 'hw1'"):
        find_course(root).assignment("hw11")
    with pytest.raises(CourseError, match="hw2 has no manifest"):
        find_course(root).assignment("hw2")
    with pytest.raises(CourseError, match="no function or class 'meen'; did you mean 'mean'"):
        find_course(root).assignment("hw1").stub("meen")


def test_outside_of_a_course_the_error_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"no course\.yaml in .* or in a folder above it; change into"):
        find_course(tmp_path)


@pytest.mark.parametrize("value", ["/etc/secret", "../secret.txt"])
def test_the_secret_stays_inside_the_course(root: Path, value: str) -> None:
    (root / "course.yaml").write_text(COURSE + f"secret_file: {value}\n")
    with pytest.raises(ManifestError, match="leaves the course's folder"):
        find_course(root)


# -------------------------------------------------------------------------------------------------------------- corpus
def variant(root: Path, name: str, text: str) -> Path:
    path = root / "solutions/hw1/corpus" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


WRONG = '''\
"""Forgets the last value.

fails: [values, "counts[tiny]"]
also: [more]
says: The last value counts too.
"""

from __future__ import annotations


def total(values):
    return sum(values[:-1])
'''


def test_a_variant_is_the_solution_with_its_definitions_after_it(root: Path) -> None:
    variant(root, "wrong/drops_last.py", WRONG)
    variant(root, "right/plain.py", '"""Nothing\nunusual."""\n\nZERO = 0\n')
    variant(root, "cheat/zero.py", '"""Zero."""\n\n\ndef mean(values):\n    return 0\n')
    right, wrong, cheat = load_corpus(find_course(root).assignment("hw1"))
    assert [v.id for v in (right, wrong, cheat)] == ["right/plain", "wrong/drops_last", "cheat/zero"]
    assert right.title == "Nothing unusual."
    assert (wrong.fails, wrong.also, wrong.says) == (["values", "counts[tiny]"], ["more"], "The last value counts too.")
    assert wrong.source == SOLUTION + "\n\ndef total(values):\n    return sum(values[:-1])\n"
    namespace: dict[str, object] = {}
    exec(compile(wrong.source, "composed", "exec"), namespace)
    assert namespace["mean"]([3, 3, 9]) == 2  # type: ignore[operator]
    assert (cheat.earns, cheat.standalone) == ([], False)


def test_a_standalone_variant_is_the_whole_module(root: Path) -> None:
    text = '"""All of it.\n\nstandalone: true\n"""\n\nimport math\n'
    variant(root, "right/whole.py", text)
    assert load_corpus(find_course(root).assignment("hw1"))[0].source == text


BODY = "\n\nx = 1\n"
BAD_VARIANTS = [
    ("wrong/a.py", '"""Wrong."""' + BODY, 1, "the key 'fails' is missing"),
    ("wrong/a.py", '"""Wrong.\n\nfails: []\n"""' + BODY, 3, "fails: needs a list that is not empty"),
    ("wrong/a.py", '"""Wrong.\n\nfails: [test_values]\n"""' + BODY, 3, "'test_values'"),
    ("wrong/a.py", '"""\nWrong,\nreally.\n\nfails: [values]\nsay: no\n"""' + BODY, 6, "say: unknown key; did you mean"),
    ("wrong/a.py", '"""Wrong.\n\nfails: [values[tiny]]\n"""' + BODY, 3, "not valid YAML"),
    ("right/a.py", '"""Right.\n\nfails: [values]\n"""' + BODY, 3, "fails: unknown key"),
    ("right/a.py", '"""Right.\n\nMore about it.\n"""' + BODY, 3, "a mapping of keys to values is needed here"),
    ("right/a.py", "x = 1\n", 1, "needs a docstring"),
    ("right/a.py", '"""Nothing."""\n', 1, "the variant changes nothing"),
    ("right/a.py", '"""Broken."""\n\ndef f(:\n', 3, "not valid Python"),
    ("right/a.py", '"""F."""\nfrom __future__ import generator_stop\nx = 1\n', 2, "generator_stop from __future__"),
]


@pytest.mark.parametrize(("name", "text", "line", "message"), BAD_VARIANTS, ids=[bad[3][:24] for bad in BAD_VARIANTS])
def test_a_mistake_in_the_corpus_is_told_with_its_line(
    root: Path, name: str, text: str, line: int, message: str
) -> None:
    path = variant(root, name, text)
    with pytest.raises(ManifestError) as raised:
        load_corpus(find_course(root).assignment("hw1"))
    assert message in str(raised.value)
    assert (raised.value.path, raised.value.line) == (path, line)


def test_a_folder_that_is_no_group_is_an_error_not_ignored(root: Path) -> None:
    variant(root, "wrongs/a.py", WRONG)
    with pytest.raises(CourseError, match="wrongs is in no group of the corpus; move it into one of right"):
        load_corpus(find_course(root).assignment("hw1"))


# ------------------------------------------------------------------------------------------------- schemas and loading
def test_the_published_schemas_are_up_to_date() -> None:
    folder = Path(__file__).parent.parent / "docs/schemas"
    for name, text in schemas().items():
        assert (folder / name).read_text() == text, "run: python -m autograder.course.schemas docs/schemas"


def test_the_schemas_agree_with_the_loader() -> None:
    validators = {name: Draft202012Validator(json.loads(text)) for name, text in schemas().items()}
    yaml = YAML(typ="safe")
    validators["course.schema.json"].validate(yaml.load(COURSE))
    validators["assignment.schema.json"].validate(yaml.load(ASSIGNMENT))
    assert not validators["assignment.schema.json"].is_valid(yaml.load(ASSIGNMENT.replace("driver:", "drivr:")))


def test_the_manifests_of_this_course_load_and_match_their_schema() -> None:
    root = Path(__file__).parent.parent
    course = find_course(root)
    validator = Draft202012Validator(json.loads(schemas()["assignment.schema.json"]))
    for path in sorted(root.glob("solutions/*/assignment.yaml")):
        assignment = course.assignment(path.parent.name)
        validator.validate(YAML(typ="safe").load(path))
        load_corpus(assignment)


def test_loading_imports_nothing_heavy(root: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom autograder.manifest import find_course\n"
        "find_course(Path(sys.argv[1])).assignment('hw1')\n"
        "print([name for name in ('torch', 'numpy', 'pytest', 'rich', 'typer') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

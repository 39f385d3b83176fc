"""Whole sessions of the staff through the command line: a download of the LMS becomes a file that the LMS imports.

Real archives, real submissions graded in isolation, a real database; nothing but the commands of docs/class-session.md.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import Any

from collect_support import bomb_zip, link, special_zip, zipped
from printed import words

from autograder.lms.readers import canvas as canvas_reader
from autograder.lms.readers import worksheet as worksheet_reader
from autograder.lms.readers.seen import Seen
from autograder.manifest import find_course, load_corpus

ROOT = Path(__file__).parent.parent
RIGHT = (ROOT / "solutions/hw1/softmax.py").read_bytes()
BROKEN = b"def softmax_naive(x, y:\n    return x\n"


def corpus(name: str) -> bytes:
    """A whole module of hw1's corpus."""
    return next(v for v in load_corpus(find_course(ROOT).assignment("hw1")) if v.id == name).source.encode()


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


class Staff:
    """A course with hw1 and somebody who types commands in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "solutions/hw1", root / "solutions/hw1", ignore=shutil.ignore_patterns("corpus"))
        (root / "course.yaml").write_text("format: 1\nid: test\ntitle: Test course\nassignments: [hw1]\n")

    def __call__(self, line: str, *more: str, code: int = 0) -> str:
        """What `autograder LINE` prints, white space folded; it must end with this exit code."""
        return words(self.raw(line, *more, code=code))

    def raw(self, line: str, *more: str, code: int = 0) -> str:
        outside = {name: value for name, value in os.environ.items() if name != "AUTOGRADER_DB"}
        command = [sys.executable, "-m", "autograder", *line.split(), *more]
        done = subprocess.run(command, cwd=self.root, env={**outside, "AUTOGRADER_AUTHOR": "ta"}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)  # fmt: skip
        assert done.returncode == code, (command, done.stdout + done.stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def record(self, student: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / f"grades/hw1/{student}.json").read_text())
        return found

    def score(self, student: str) -> Decimal:
        return Decimal(str(self.record(student)["score"]))


def squeezed(text: str) -> str:
    """Without white space: a long path in a table is folded at any character."""
    return "".join(text.split())


def table(*rows: tuple[str, ...]) -> str:
    lines: list[str] = []

    class Sink:
        def write(self, text: str) -> None:
            lines.append(text)

    csv.writer(Sink(), lineterminator="\n").writerows(rows)
    return "".join(lines)


# --------------------------------------------------------------------------------------------------------------- Canvas
PEOPLE = {
    "00451": ("Ama Quartey", "aquartey"),
    "00452": ("Zoë Bäcker", "zbaecker"),
    "00453": (decomposed("José Núñez Ortega"), "jnunez"),
    "00454": ("Ann Lee", "alee1"),
    "00455": ("Ann Lee", "alee2"),
    "00456": ("Íñigo Peña Ruiz", "ipena"),
    "00457": ("Adaeze Okafor", "aokafor"),
    "00458": ("Lou D'Arcy", "ldarcy"),
    "00459": ("שירה לוי", "slevi"),
    "00460": ("Wei Zhang", "wzhang"),
    "00461": ("Eve Moreau", "emoreau"),
    "00462": ("Jean O'Neil", "joneil"),
}
NEWCOMER = {"00463": ("Sora Kim", "skim")}


def canvas_roster(people: dict[str, tuple[str, str]]) -> str:
    rows = [(key, name, login, f"7{key}") for key, (name, login) in people.items()]
    return table(("id", "name", "login", "canvas_id"), *rows)


def sortable(name: str) -> str:
    given, _, family = name.rpartition(" ")
    return f"{family}, {given}"


def canvas_template() -> str:
    """Íñigo has an old grade, the other columns belong to others, Wei Zhang is not assigned."""
    held = {"00456": "12.00", "00460": "N/A"}
    students = [
        (sortable(name), f"7{key}", key, login, "A", held.get(key, ""), "42.00")
        for key, (name, login) in (PEOPLE | NEWCOMER).items()
    ]
    return table(
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Online softmax (880001)", "Quiz (880002)"),
        ("", "", "", "", "", "", "Manual Posting"),
        ("    Points Possible", "", "", "", "", "100.00", "50.00"),
        *students,
        ("Left, Long Ago", "700499", "00499", "lago", "A", "", "17.00"),
        ("Student, Test", "700999", "", "f" * 40, "A", "", ""),
    )


def canvas_download() -> bytes:
    return zipped(
        {
            "quarteyama_700451_1001_softmax.py": RIGHT,
            f"{decomposed('bäckerzoë')}_700452_1002_softmax.py": corpus("right/online_backwards"),
            "núñezortegajosé_700453_1003_softmax.py": corpus("wrong/merge_only_a_rescaled"),
            "leeann_700454_1004_softmax.py": BROKEN + b"# one of two\n",
            "leeann_700455_1005_softmax.py": BROKEN + b"# the other\n",
            "peñaruizíñigo_700456_1006_softmax.py": BROKEN,
            "peñaruizíñigo_700456_1016_softmax-1.py": RIGHT + b"# second try\n",
            "okaforadaeze_LATE_700457_1007_softmax.py": RIGHT + b"# late\n",
            "darcylou_700458_1008_softmax.py": b"%PDF-1.7 scanned",
            "לוישירה_700459_1009_hand in.zip": bomb_zip("softmax.py", 300),
            "zhangwei_700460_1010_hw.zip": special_zip((link("softmax.py"), b"/etc/passwd")),
            "oneiljean_LATE_700462_1012_softmax.py": RIGHT + b"# ill\n",
            "kimsora_700463_1013_softmax.py": BROKEN + b"# new here\n",
        }
    )


def seen_by_canvas(staff: Staff, name: str) -> dict[str, Seen]:
    """By Canvas id, what Canvas would read; the Test Student left out."""
    data = (staff.root / name).read_bytes()
    return {seen.key: seen for seen in canvas_reader.read(data, "Online softmax (880001)") if seen.key != "700999"}


def test_a_class_on_canvas_from_the_download_to_the_upload(tmp_path: Path) -> None:
    staff = Staff(tmp_path)
    _collect_until_clear(staff)
    _grade_and_enter(staff)
    _decide(staff)
    first = _export_to_canvas(staff)
    _export_again_with_the_last_hand_in(staff, first)
    _look_at_the_log(staff)


def _collect_until_clear(staff: Staff) -> None:
    staff.put("submissions.zip", canvas_download())
    staff.put("roster.csv", canvas_roster(PEOPLE))
    said = staff("collect hw1 submissions.zip --roster roster.csv", code=1)
    assert "layout canvas, 13 hand-ins" in said
    assert "late 2: 00457, 00462" in said
    assert "not placed: kimsora_700463_1013_softmax.py" in said
    assert "kimsora is nobody in the roster" in said
    for student, fact in (("00458", "is a PDF"), ("00459", "a bomb"), ("00460", "link")):
        assert fact in said.partition(f" {student}: ")[2].partition(" 004")[0], said
    assert "missing 1: 00461" in said
    # the newcomer enters the roster, and Lou's module comes by e-mail
    staff.put("roster.csv", canvas_roster(PEOPLE | NEWCOMER))
    staff.put("submissions/hw1/00458/softmax.py", RIGHT + b"# sent by e-mail\n")
    again = staff("collect hw1 submissions.zip --roster roster.csv", code=1)
    assert "settled by hand 1" in again
    assert "not placed" not in again
    assert "odd 2 00459" in again
    assert (staff.root / "submissions/hw1/00456/softmax.py").read_bytes() == RIGHT + b"# second try\n"


def _grade_and_enter(staff: Staff) -> None:
    assert "graded 10" in staff("grade hw1 --jobs 1")
    assert staff.score("00451") == staff.score("00452") == staff.score("00456") == 100
    assert 0 < staff.score("00453") < 100
    assert staff.score("00454") == 0
    staff("gradebook init")
    assert "new 13, changed 0" in staff("gradebook roster roster.csv")
    staff("gradebook policy hw1 --zone Europe/Berlin --percent 10 --grace 15m --due", "2026-10-02 23:59")
    refused = staff("gradebook import hw1", code=2)
    assert "00451 Ama Quartey missing -> 100/100" in refused
    assert "then add --yes" in refused
    entered = staff("gradebook import hw1 --yes")
    assert "00457 Adaeze Okafor missing -> 90/100 (10 off for lateness)" in entered
    assert f"00453 {PEOPLE['00453'][0]} missing -> {staff.score('00453').normalize():f}/100" in entered
    assert all(f"{key} {PEOPLE[key][0]} missing -> pending" in entered for key in ("00459", "00460"))
    assert "grades that change 12" in entered
    assert staff("gradebook import hw1").endswith("nothing is new")


def _decide(staff: Staff) -> None:
    due = staff("gradebook submitted hw1 00457", "2026-10-04 10:00", "--reason", "receipt")
    assert "80/100 (20 off for lateness)" in due
    assert "100/100" in staff("gradebook extend hw1 joneil", "2026-10-09 23:59", "--reason", "ill")
    assert "40.5/100" in staff("override hw1 00455 40.5", "--reason", "a bracket was lost")
    assert "excused" in staff("gradebook override hw1 00461 excused", "--reason", "left for a term")
    assert "attempt 1 holds no module" in staff("gradebook show hw1 --student 00460")
    assert "missing" in staff("override hw1 00460 missing", "--reason", "a link is no hand-in")


def _export_to_canvas(staff: Staff) -> dict[str, Decimal | str]:
    """A hand-in that came after grading is pending: it is named and gets nothing."""
    staff.put("later.zip", zipped({"לוישירה_700459_1019_softmax-1.py": RIGHT + b"# no archive\n"}))
    assert "odd 0" in staff("collect hw1 later.zip --roster roster.csv")
    assert "new attempts 1, new results 0, known already 10" in staff("gradebook import hw1 --yes")
    staff.put("gradebook.csv", canvas_template())
    said = staff("export hw1 --to canvas --template gradebook.csv --column 880001 -o upload.csv")
    for row in (
        "written 00453",
        "written 00457 Adaeze Okafor 700457 10 80",
        "written 00456 Íñigo Peña Ruiz 700456 9 12.00 100",
        "written 00461 Eve Moreau 700461 14 EX",
        "kept 00460 Wei Zhang 700460 13 N/A missing",
        "pending 00459 שירה לוי 700459 12 attempt 2 has no result: grade it and import the record",
        "not in grades Left, Long Ago 700499",
        "note: late penalty: deducted in this file (1 student)",
    ):
        assert row in said, said
    counts = {"written": 11, "unchanged": 0, "kept": 1, "pending": 1}
    assert all(f"{status} {count} " in said for status, count in counts.items()), said
    intended: dict[str, Decimal | str] = {
        **dict.fromkeys(("00451", "00452", "00456", "00458", "00462"), Decimal(100)),
        "00453": round(staff.score("00453"), 2),
        "00454": Decimal(0),
        "00455": Decimal("40.5"),
        "00457": Decimal(80),
        "00461": "excused",
        "00463": Decimal(0),
    }
    require_seen(staff, intended)
    return intended


def require_seen(staff: Staff, intended: dict[str, Decimal | str]) -> None:
    """Canvas reads these grades in the file, and nothing for anybody else."""
    seen = seen_by_canvas(staff, "upload.csv")
    read = {key: one.score if one.kind == "score" else one.kind for key, one in seen.items()}
    wanted = {f"7{key}": value for key, value in intended.items()}
    assert {key: read[key] for key in wanted} == wanted
    before = staff.root.joinpath("gradebook.csv").read_bytes()
    untouched = {one.key: one for one in canvas_reader.read(before, "Online softmax (880001)")}
    others = seen.keys() - wanted.keys()
    assert {(seen[key].kind, seen[key].score) for key in others} == {
        (untouched[key].kind, untouched[key].score) for key in others
    }
    assert b",42.00" in (staff.root / "upload.csv").read_bytes()


def _export_again_with_the_last_hand_in(staff: Staff, intended: dict[str, Decimal | str]) -> None:
    assert "graded 1, unchanged 10" in staff("grade hw1 --jobs 1")
    told = staff("export hw1 --to canvas --template gradebook.csv --column 880001 -o upload.csv")
    assert (
        "the records in grades/hw1 would change 1 of these grades; enter them with autograder gradebook import" in told
    )
    entered = staff("gradebook import hw1 --yes")
    assert "00459 שירה לוי pending -> 100/100" in entered
    assert "grades that change 1" in entered
    staff.put("gradebook.csv", (staff.root / "upload.csv").read_bytes())
    said = staff("export hw1 --to canvas --template gradebook.csv --column 880001 -o upload.csv")
    assert "written 1 " in said
    assert "unchanged 11 " in said
    assert "would change" not in said
    require_seen(staff, {**intended, "00459": Decimal(100)})


def _look_at_the_log(staff: Staff) -> None:
    """Who exported what, with the file's hash; a refused export leaves no row, an allowed loss says so."""
    digest = hashlib.sha256((staff.root / "upload.csv").read_bytes()).hexdigest()
    log = staff("gradebook log hw1")
    exported = f"12 grades for canvas, file {staff.root}/upload.csv {digest[:12]}, with --column 880001"
    assert squeezed(exported) in squeezed(log)
    assert log.count(" exports hw1 ") == 3
    excused = (staff.root / "upload.csv").read_text(encoding="utf-8").replace("A,100,42.00", "A,EX,42.00", 1)
    staff.put("excused.csv", excused)
    refused = staff("export hw1 --to canvas --template excused.csv --column 880001 -o risky.csv", code=1)
    assert "1 would erase what the LMS holds" in refused
    assert not (staff.root / "risky.csv").exists()
    staff("export hw1 --to canvas --template excused.csv --column 880001 --allow-erase -o risky.csv")
    log = staff("gradebook log hw1")
    assert log.count(" exports hw1 ") == 4
    assert squeezed("with --column 880001 --allow-erase") in squeezed(log)
    mine = staff("gradebook log hw1 --student 00457")
    assert squeezed(f"80 for canvas, file {staff.root}/upload.csv") in squeezed(mine)


# --------------------------------------------------------------------------------------------------------------- Moodle
TEAM = {
    "00451": ("Ama Quartey", "51201"),
    "00453": ("José Núñez Ortega", "51203"),
    "00455": ("Ann Lee", "51205"),
    "00461": ("Eve Moreau", "51211"),
}
LATE = "Monday, 5 October 2026, 9:10 AM"


def worksheet() -> str:
    header = ("Identifier", "Full name", "ID number", "Status", "Grade", "Maximum grade", "Grade can be changed",
              "Last modified (submission)", "Last modified (grade)", "Feedback comments")  # fmt: skip
    rows = [
        (f"Participant {number}", name, key, "Submitted for grading", "", "105,00", "Yes", LATE, "-", "")
        for key, (name, number) in TEAM.items()
    ]
    return table(header, *rows)


def test_a_class_on_moodle_graded_again_with_a_corrected_check(tmp_path: Path) -> None:
    staff = Staff(tmp_path)
    staff.put("roster.csv", table(("id", "name", "participant"), *((k, n, p) for k, (n, p) in TEAM.items())))
    wrong = corpus("wrong/merge_only_a_rescaled")
    files = {"00451": RIGHT, "00453": wrong, "00455": BROKEN}
    folders = {key: f"{name}_{number}_assignsubmission_file/softmax.py" for key, (name, number) in TEAM.items()}
    staff.put("moodle.zip", zipped({folders[key]: data for key, data in files.items()}))
    assert "layout moodle, 3 hand-ins" in staff("collect hw1 moodle.zip --roster roster.csv")
    staff("grade hw1 --jobs 1")
    before = staff.score("00453")
    staff("gradebook init")
    staff("gradebook roster roster.csv")
    staff("gradebook import hw1 --yes")
    for student, points in (("00451", "4,5/5"), ("00453", "3"), ("00455", "2.25"), ("00461", "1")):
        staff(f"gradebook points hw1 {student} essay {points}")
    after = _grade_again(staff, before)
    staff.put("worksheet.csv", worksheet())
    said = staff("export hw1 --to moodle-worksheet --template worksheet.csv -o upload.csv --feedback")
    assert "written 4 " in said
    assert "note: late penalty: nobody has one here" in said
    data = (staff.root / "upload.csv").read_bytes()
    seen = {
        one.key: (one.score, one.feedback)
        for one in worksheet_reader.read(data, grade="Grade", sign=",", feedback="Feedback comments")
    }
    assert {key: score for key, (score, _) in seen.items()} == {
        "51201": Decimal("104.5"), "51203": round(after + 3, 2), "51205": Decimal("2.25"), "51211": Decimal(1)
    }  # fmt: skip
    assert seen["51201"][1].startswith("hw1: 104.5/105 points (softmax_naive ")
    assert seen["51201"][1].endswith(", essay 4.5/5)")
    assert seen["51211"][1] == "hw1: 1/105 points (essay 1/5)"
    assert b'"104,5"' in data


def _grade_again(staff: Staff, before: Decimal) -> Decimal:
    """A check turns out to be wrong: only the grade that this changes is shown and entered; a slip is no grade.

    Returns the points of the checks that count in the end.
    """
    checks = staff.root / "solutions/hw1/test_hidden.py"
    text = checks.read_text()
    first = "    blocks = two_blocks(rng, case, dtype)\n    for _ in range(2):\n        a, b = (made_elsewhere"
    assert text.count(first) == 1
    lenient = "    submission.merge_states(*(made_elsewhere(rng, *block) for block in two_blocks(rng, case, dtype)))\n"
    checks.write_text(text.replace(first, f"{lenient}    return\n{first}"))
    staff("grade hw1 --jobs 1")
    after = staff.score("00453")
    assert after > before
    shown = staff("gradebook import hw1 --yes")
    now = f"{after.normalize() + 3:f}/105"
    assert f"00453 José Núñez Ortega {before.normalize() + 3:f}/105 -> {now}" in shown
    assert "new attempts 0, new results 1, known already 2, grades that change 1" in shown
    assert "graded again with another kit, nothing came out differently: 2" in shown
    assert "00451" not in shown
    checks.write_text(text.replace(first, "    raise RuntimeError('a slip of the author')\n" + first))
    staff("grade hw1 --jobs 1", code=3)
    failed = staff("gradebook import hw1 --yes", code=1)
    assert failed.count("the grader itself failed") == 3
    assert "grades that change 0" in failed
    assert f"José Núñez Ortega: {now}" in staff("gradebook show hw1 --student 00453")
    results = [line for line in staff.raw("gradebook log hw1").splitlines() if " results " in line]
    grades = [line for line in results if "no grade" not in line]
    assert [sum(f" {key} " in line for line in grades) for key in ("00451", "00453", "00455")] == [1, 2, 1]
    assert len(results) == 7
    return after

"""JUnit XML of a record, in the dialect that CI systems read (testsuites / testsuite / testcase)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from autograder.record import CheckResult, Record
from autograder.render.prose import explain, one_line

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ERRORS = ("crashed", "timed_out", "over_limit", "forbidden", "grader_error")
_SKIPPED = ("skipped", "not_runnable")


def junit_xml(record: Record) -> bytes:
    """The record as one test suite; failed = failure, crash / limit / grader error = error."""
    suite = ET.Element(
        "testsuite",
        name=record.assignment,
        tests=str(len(record.checks)),
        failures=str(sum(c.status in ("failed", "not_implemented") for c in record.checks)),
        errors=str(sum(c.status in _ERRORS for c in record.checks)),
        skipped=str(sum(c.status in _SKIPPED for c in record.checks)),
        time=f"{sum(c.duration for c in record.checks):.3f}",
        timestamp=record.started,
    )
    for check in record.checks:
        suite.append(_case(record, check))
    suites = ET.Element("testsuites", name="autograder")
    suites.append(suite)
    ET.indent(suites)
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(record: Record, check: CheckResult) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=f"{record.assignment}.{check.stub}",
        name=_clean(check.id),
        time=f"{check.duration:.3f}",
    )
    if check.status == "passed":
        return case
    tag = "skipped" if check.status in _SKIPPED else "error" if check.status in _ERRORS else "failure"
    outcome = ET.SubElement(case, tag, message=_clean(f"{check.title}: {one_line(check)}"), type=check.status)
    outcome.text = _clean("\n".join(filter(None, [explain(check.failure), check.hint and f"hint: {check.hint}"])))
    if check.output and check.output.text:
        ET.SubElement(case, "system-out").text = _clean(check.output.text)
    return case


def _clean(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)

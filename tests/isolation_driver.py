"""A small grader for test_isolation.py: runs calls in confined children, also as another user or interpreter.

`python isolation_driver.py` reads `{"isolation": ..., "preload": [...], "calls": [...]}`, prints the outcomes as JSON.
"""

import json
import os
import select
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def start(isolation, preload=(), **options):
    from autograder.isolation import WarmParent

    return WarmParent(
        isolation=isolation, preload=preload, entry="isolation_entry:main", python_paths=[HERE], **options
    )


def call(process, name, arguments, seconds=20.0):
    """The answer of a child, or None when it ended or did not answer in time."""
    try:
        process.channel.sendall(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
        process.channel.settimeout(seconds)
        data = b""
        while not data.endswith(b"\n"):
            part = process.channel.recv(1 << 16)
            if not part:
                return None
            data += part
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        return None
    return json.loads(data)


def read_output(process, cap=1 << 16, seconds=5.0):
    """What a child printed: up to `cap` bytes, until it closes the pipe or `seconds` pass."""
    data = b""
    end = time.monotonic() + seconds
    poller = select.poll()
    poller.register(process.output, select.POLLIN)
    while len(data) < cap and poller.poll(max(0.0, end - time.monotonic()) * 1000):
        part = os.read(process.output, cap - len(data))
        if not part:
            break
        data += part
    return data


def run_calls(parent, calls):
    """One outcome per (name, arguments): children are shared, and replaced when a call ended one."""
    outcomes = []
    process = None
    for name, arguments in calls:
        if process is None:
            process = parent.spawn()
        answer = call(process, name, arguments)
        if answer is None:
            ended = process.wait(5)
            answer = {"worked": None, "ended": ended and (ended.signal or ended.code)}
            process.close()
            process = None
        outcomes.append(answer)
    if process is not None:
        process.close()
    return outcomes


def main():
    request = json.load(sys.stdin)
    with start(request["isolation"], request["preload"]) as parent:
        parent.ready()
        outcomes = run_calls(parent, request["calls"])
        print(json.dumps({"mode": parent.mode, "layers": {x.name: x.active for x in parent.layers}, "out": outcomes}))


if __name__ == "__main__":
    main()

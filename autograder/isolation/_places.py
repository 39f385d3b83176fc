"""Which directories a child needs to see: interpreter, libraries, site-packages and single packages, nothing else."""

from __future__ import annotations

import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence

import msgspec

from autograder.isolation._types import IsolationError

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/nix/store")
_SITE_NAMES = ("site-packages", "dist-packages")
_MAX_LINKS = 40


class Plan(msgspec.Struct, frozen=True):
    """Real places to show, and the symbolic links that lead to them."""

    places: list[str]
    links: dict[str, str]


def package_places(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """(directories for sys.path, places to show) of top-level packages, found without importing them.

    A package in site-packages shows all of it, for its own dependencies are there. Any other package shows only
    itself: the directory that holds it may hold solutions as well.
    """
    imports: list[str] = []
    shown: list[str] = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is None:
            continue
        for place in list(spec.submodule_search_locations or ()) or [spec.origin or ""]:
            if not os.path.exists(place):
                continue
            home = os.path.dirname(os.path.abspath(place))
            imports.append(home)
            shown.append(home if os.path.basename(home) in _SITE_NAMES else os.path.abspath(place))
    return list(dict.fromkeys(imports)), list(dict.fromkeys(shown))


def interpreter_places() -> list[str]:
    """What the running interpreter and its shared libraries need; the executable itself is not among it."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    libraries = [os.path.join(prefix, name) for prefix in prefixes for name in ("lib", "lib64")]
    paths = sysconfig.get_paths()
    standard = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return [*_SYSTEM, *libraries, *standard, *site.getsitepackages()]


def plan(paths: Sequence[str]) -> Plan:
    """Resolve paths one link at a time and drop what lies inside another place."""
    links: dict[str, str] = {}
    real: set[str] = set()
    for path in paths:
        if os.path.exists(path):
            real.add(_follow(os.path.abspath(path), links))
    places = [p for p in sorted(real) if not any(_inside(p, other) for other in real if other != p)]
    loose = {link: target for link, target in links.items() if not any(_inside(link, p) for p in places)}
    return Plan(places, loose)


def _inside(path: str, place: str) -> bool:
    return path.startswith(place.rstrip("/") + "/")


def _follow(path: str, links: dict[str, str]) -> str:
    rest = path.split("/")
    here = "/"
    budget = _MAX_LINKS
    while rest:
        part = rest.pop(0)
        if part == "..":
            here = os.path.dirname(here)
            continue
        if part in ("", "."):
            continue
        step = os.path.join(here, part)
        if not os.path.islink(step):
            here = step
            continue
        budget -= 1
        if budget < 0:
            raise IsolationError(f"{path} leads through more than {_MAX_LINKS} symbolic links; name its real place")
        links[step] = os.readlink(step)
        here = "/" if links[step].startswith("/") else here
        rest = links[step].split("/") + rest
    return here

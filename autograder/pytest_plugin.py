"""The pytest side of the checks: fixtures, and readable failures when a student runs `pytest assignments/hw1`.

Loaded by pytest through its entry point, and by the grader's own session (autograder.session), which hands its state
over in the config's stash. Imports of the engine happen only when a check asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

    from autograder.state import Fixtures

KEY: pytest.StashKey[Fixtures] = pytest.StashKey()


def _state(request: pytest.FixtureRequest) -> Fixtures:
    """The state shared by the fixtures: the session's own, or one made for a bare pytest run."""
    state = request.config.stash.get(KEY, None)
    if state is None:
        from autograder.state import StandaloneState

        state = request.config.stash[KEY] = StandaloneState()
        request.config.add_cleanup(state.close)
    state.enter(request.node)
    return state


@pytest.fixture
def submission(request: pytest.FixtureRequest) -> Any:
    """The student's module, in its own process."""
    return _state(request).submission()


@pytest.fixture
def solution(request: pytest.FixtureRequest) -> Any:
    """The solution module, imported in the grader; hidden checks only."""
    return _state(request).solution()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this check and case, the same for every submission."""
    return _state(request).rng()


@pytest.fixture
def torch_rng(request: pytest.FixtureRequest) -> Any:
    """A torch.Generator of this check and case, the same for every submission."""
    return _state(request).torch_rng()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
    """An outcome of a submission becomes a report in its own words; pytest renders everything else as usual."""
    state = item.config.stash.get(KEY, None)
    if state is None or call.excinfo is None or call.when == "collect":
        return None
    text = state.note(item, call.excinfo)
    if text is None:
        return None
    return pytest.TestReport(
        item.nodeid, item.location, {}, "failed", text, call.when, (), call.duration, call.start, call.stop
    )

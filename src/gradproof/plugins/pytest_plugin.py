"""The pytest plugin: its options and its marker, and failures of `assert_correct` in one line where one is wanted.

pytest loads this file in every run, used or not. It imports nothing but pytest and the standard library; the audit
itself is loaded when `--gradproof` asks for it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_OPTIONS = (
    (
        "checks",
        "WHICH",
        "executions of a line checked in each test: powers (the default), all, first, or 1,5,20",
    ),
    ("budget", "SECONDS", "time for all checks of the session together; the default is no limit"),
    ("fail-on", "LEVEL", "fail a test from this level on: error (the default), warning or never"),
    ("json", "FILE", "also write the report as JSON, version 1"),
    ("html", "FILE", "also write the report as one self-contained HTML page"),
    ("sarif", "FILE", "also write SARIF 2.1.0, which tools for code review read"),
    ("defer", "DIR", "judge nothing now: keep what is to be judged in DIR, for `gradproof examine DIR`"),
)

_MARKER = (
    "gradproof(accept=None, reason='', tolerance=None, fail_on=None, off=False): with --gradproof, accept the "
    "causes or verdicts named (True: all) in this test, judge by another tolerance, fail from another level on, "
    "or check nothing"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradproof", "gradients computed in the tests (gradproof)")
    group.addoption(
        "--gradproof",
        action="store_true",
        default=None,
        help="check every gradient that the tests compute, and fail the test that computes a bad one",
    )
    parser.addini("gradproof", "the default of --gradproof", type="bool", default=False)
    for name, metavar, text in _OPTIONS:
        group.addoption(f"--gradproof-{name}", metavar=metavar, default=None, help=text)
        parser.addini(f"gradproof_{name.replace('-', '_')}", f"the default of --gradproof-{name}", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    is_wanted = config.getoption("--gradproof")
    if config.getini("gradproof") if is_wanted is None else is_wanted:
        from gradproof.plugins.pytest_audit import start

        start(config, {name.replace("-", "_"): _setting(config, name) for name, _, _ in _OPTIONS})


def _setting(config: pytest.Config, name: str) -> str | None:
    given: str | None = config.getoption(f"--gradproof-{name}")
    return given or config.getini(f"gradproof_{name.replace('-', '_')}") or None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where pytest has one line for a failure, it is the fault; everywhere else the diagnosis stands whole."""
    del item
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    crash = getattr(report.longrepr, "reprcrash", None)
    # By its module, since our exceptions must not be imported where they are not used.
    if crash is not None and type(error).__module__.partition(".")[0] == "gradproof":
        crash.message = getattr(error, "headline", crash.message)
        place = getattr(error, "place", None)
        if place is not None:
            crash.path, crash.lineno = place.file, place.line
    return report

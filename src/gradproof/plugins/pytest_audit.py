"""The audit of a test suite: every gradient is checked where it is computed, and fails the test if it is bad."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from gradproof.audit.budget import Budget, Policy, parse_checks
from gradproof.audit.intended import finished
from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.audit.settings import Settings, find_settings
from gradproof.cli.output import NOT_WRITTEN, writable_path
from gradproof.deferred.keeping import FolderKeeper, keeper_in, kept_line
from gradproof.deferred.model import Ended
from gradproof.diagnosis.diagnostic import SEVERITIES
from gradproof.diagnosis.report import FailOn, GradientReport, Report
from gradproof.diagnosis.words import capped_list, comma_list
from gradproof.errors import InvalidInput
from gradproof.ir.span import Span
from gradproof.options import Options
from gradproof.plugins.pytest_mark import LEVELS, Wishes, unmet, wishes_of
from gradproof.plugins.pytest_results import Computed, Results, merged, received, sent
from gradproof.plugins.pytest_summary import write_files, write_section, write_summary
from gradproof.render.faults import gravest_first, main_span
from gradproof.render.sentence import name
from gradproof.render.to_text import headline, to_text

OUTPUT = "gradproof"  # under which a worker of xdist hands its results over
COLLECTION = "collection"

Step = Generator[None, Any, Any]


class BadGradient(pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """Fails a test whose own assertions hold: the fault in one line, then the diagnosis."""

    def __init__(self, report: Report) -> None:
        self.headline = headline(report)
        self.place: Span = main_span(gravest_first(report)[0])
        calls = dict.fromkeys(f"{name(gradient)} at {gradient.call}" for gradient in report.gradients)
        computed = f"the test computes {capped_list(list(calls))}"
        super().__init__(f"{self.headline}\n{computed}\n\n{to_text(report)}", pytrace=False)


@dataclass(frozen=True)
class PluginSettings:
    """The options of the plugin, understood."""

    policy: Policy
    seconds: float | None
    fail_on: FailOn
    paths: Mapping[str, str]
    folder: str
    project: Settings = field(default_factory=Settings)
    defer: str | None = None


def start(config: pytest.Config, given: Mapping[str, str | None]) -> None:
    """Audit the session that begins; in the controller of xdist, gather what its workers have found."""
    settings = _settings(given, str(config.invocation_params.dir))
    is_spread = getattr(config.option, "dist", "no") != "no"
    if is_spread and settings.defer is not None:
        raise pytest.UsageError("--gradproof-defer takes the gradients of one process: leave out -n")
    if not hasattr(config, "workerinput") and is_spread:
        config.pluginmanager.register(Controller(settings), "gradproof-controller")
        return
    n_workers = getattr(config, "workerinput", {}).get("workercount", 1)
    seconds = None if settings.seconds is None else settings.seconds / n_workers
    session = Session(
        budget=Budget(seconds, option="--gradproof-budget"),
        policy=settings.policy,
        checks_option="--gradproof-checks, or off=True",
        excludes=settings.project.excludes if settings.project.exclude else None,
        hears_checks=False,  # a test that calls `check` looks at its report itself
        keeper=_keeper(settings),
    )
    session.start()
    config.add_cleanup(session.stop)
    config.pluginmanager.register(SuiteAudit(settings, session), "gradproof-audit")


def _keeper(settings: PluginSettings) -> FolderKeeper | None:
    try:
        return None if settings.defer is None else keeper_in(settings.defer, Options(), settings.project)
    except InvalidInput as error:
        raise pytest.UsageError(str(error)) from None


def _settings(given: Mapping[str, str | None], folder: str) -> PluginSettings:
    try:
        project = find_settings(folder)
    except InvalidInput as error:
        raise pytest.UsageError(str(error)) from None
    fail_on = given["fail_on"] or project.fail_on or "error"
    budget = (
        str(project.budget) if given["budget"] is None and project.budget is not None else given["budget"]
    )
    if fail_on not in LEVELS:
        raise pytest.UsageError(f"--gradproof-fail-on takes {comma_list(LEVELS, 'or')}; it was {fail_on!r}")
    try:
        seconds = None if budget is None else float(budget)
        if seconds is not None and not seconds >= 0:
            raise ValueError
        policy = parse_checks(given["checks"] or project.checks or "powers")
        paths = {name: writable_path(given[name]) for name in ("json", "html", "sarif")}
    except ValueError:
        raise pytest.UsageError(f"--gradproof-budget takes a number of seconds, not {budget!r}") from None
    except InvalidInput as error:
        raise pytest.UsageError(str(error).replace("--checks", "--gradproof-checks")) from None
    known = {name: path for name, path in paths.items() if path is not None}
    return PluginSettings(policy, seconds, cast(FailOn, fail_on), known, folder, project, given["defer"])


@dataclass(eq=False)
class SuiteAudit:
    """The hooks of a process that runs tests. What a fixture computes belongs to the test that first needs it."""

    settings: PluginSettings
    session: Session
    computed: list[Computed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _running: pytest.Session | None = None  # known when it has finished
    _n_seen: int = 0
    _n_before: int = 0  # how many were computed before the test that is running
    _wishes: Wishes = field(default_factory=Wishes)
    _misuse: str | None = None  # why the marker of the running test is not understood
    _phases: dict[str, Report] = field(default_factory=dict)  # of the test that is running

    def pytest_collection_finish(self) -> None:
        self._take("", COLLECTION)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Step:
        self._begin(item)
        try:
            return (yield)
        finally:
            self._take(item.nodeid, "setup")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Step:
        if self._misuse is not None:
            pytest.fail(self._misuse, pytrace=False)
        try:
            result = yield
        finally:
            self._take(item.nodeid, "call")
        self._fail_if_bad("setup", "call")
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Step:
        try:
            result = yield
        finally:
            self._take(item.nodeid, "teardown")
            self._end(item)
        self._fail_if_bad("teardown")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A test that fails by itself says what was wrong with its gradients besides."""
        report = yield
        own = call.excinfo is not None and isinstance(call.excinfo.value, BadGradient)
        found = self._phases.get(report.when or "")
        if found is not None and not own and (bad := self._bad(found)) is not None:
            report.sections.append(("gradproof", to_text(bad)))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._running = session
        self.session.stop()
        if isinstance(self.session.keeper, FolderKeeper):
            self.session.keeper.end(Ended(self.session.known()))
        results = self._results()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = sent(results)
        elif session.exitstatus == pytest.ExitCode.OK and results.has_failed_silently:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        keeper = self.session.keeper
        if isinstance(keeper, FolderKeeper) and self.settings.defer is not None:
            write_section(terminalreporter, [kept_line(keeper, self.settings.defer)])
        else:
            _conclude(terminalreporter, self._running, self._results(), self.settings)

    def _begin(self, item: pytest.Item) -> None:
        self._wishes, self._phases, self._misuse = Wishes(), {}, None
        try:
            self._wishes = wishes_of(item)
        except pytest.UsageError as error:
            self._misuse = str(error)  # it fails this test; the others have nothing to do with it
        self._n_before = len(self.computed)
        self.session.options = self._wishes.options(Options())
        self.session.policy = _never if self._wishes.off else self.settings.policy
        self.session.recount()

    def _end(self, item: pytest.Item) -> None:
        """A test that ran to its end shows what its marker accepts without need."""
        found = [gradient for report in self._phases.values() for gradient in report.gradients]
        missing = unmet(self._wishes, found)
        if "call" in self._phases and missing and not self._wishes.off and not self.session.budget.is_used_up:
            self.notes.append(f"{item.nodeid} accepts {', '.join(missing)}, which did not occur")

    def _take(self, nodeid: str, phase: str) -> None:
        """What was computed since the last time belongs to this phase of this test."""
        new = self.session.gradients[self._n_seen :]
        self._n_seen = len(self.session.gradients)
        report = relative_to(finished(Report(tuple(new))), self.settings.folder)
        accepted = tuple(self._accepted(gradient) for gradient in report.gradients)
        self._phases[phase] = report = replace(report, gradients=accepted)
        is_told = phase in ("call", "teardown")
        self.computed += [
            Computed(gradient, nodeid, phase, self._is_bad(gradient), is_told) for gradient in accepted
        ]
        if phase == "call":  # it comes to the call, which tells of the setup too
            own = self.computed[self._n_before :]
            self.computed[self._n_before :] = [replace(each, is_told=True) for each in own]

    def _accepted(self, gradient: GradientReport) -> GradientReport:
        is_accepted = gradient.level != "note" and (
            self._wishes.accepts(gradient, self._least) or self.settings.project.accepts(gradient)
        )
        return replace(gradient, intended=True) if is_accepted else gradient

    @property
    def _least(self) -> int:
        """The rank from which on the running test fails; beyond all ranks if it never does."""
        fail_on = self._wishes.fail_on or self.settings.fail_on
        return len(SEVERITIES) if fail_on == "never" else SEVERITIES.index(fail_on)

    def _is_bad(self, gradient: GradientReport) -> bool:
        return SEVERITIES.index(gradient.level) >= self._least

    def _bad(self, *reports: Report) -> Report | None:
        """The gradients of these reports that reach the level, with the sources that they speak of."""
        bad = tuple(g for report in reports for g in report.gradients if self._is_bad(g))
        sources = {file: text for report in reports for file, text in report.sources.items()}
        return Report(bad, sources=sources) if bad else None

    def _fail_if_bad(self, *phases: str) -> None:
        bad = self._bad(*(self._phases[phase] for phase in phases if phase in self._phases))
        if bad is not None:
            raise BadGradient(bad)

    def _results(self) -> Results:
        whole = relative_to(self.session.report(), self.settings.folder)
        gradients = tuple(each.gradient for each in self.computed)
        return Results(replace(whole, gradients=gradients), tuple(self.computed), tuple(self.notes))


def _never(occurrence: int) -> bool:
    del occurrence
    return False


@dataclass(eq=False)
class Controller:
    """The hooks of the process of xdist that runs no tests itself."""

    settings: PluginSettings
    results: list[Results] = field(default_factory=list)
    _running: pytest.Session | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        text = getattr(node, "workeroutput", {}).get(OUTPUT)
        if text is not None:
            self.results.append(received(text))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._running = session
        if session.exitstatus == pytest.ExitCode.OK and merged(self.results).has_failed_silently:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        _conclude(terminalreporter, self._running, merged(self.results), self.settings)


def _conclude(
    terminal: pytest.TerminalReporter,
    session: pytest.Session | None,
    results: Results,
    settings: PluginSettings,
) -> None:
    write_summary(terminal, results)
    is_written = write_files(terminal, results.report, settings.paths, settings.folder)
    if not is_written and session is not None:
        session.exitstatus = NOT_WRITTEN

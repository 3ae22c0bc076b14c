"""Notebooks: `%%gradproof` audits a cell, `%gradproof` an expression; the report appears below their output."""

from __future__ import annotations

import asyncio
import inspect
import linecache
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from gradproof.audit.budget import Budget, Policy, parse_checks, powers
from gradproof.audit.cells import cell_name
from gradproof.audit.crash import connect
from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.diagnosis.report import Report, Script
from gradproof.errors import InvalidInput
from gradproof.render.to_text import to_text

_OPTION = re.compile(r"\s*--(\w+)(?:[= ]\s*(\S+))?")
_CELL = re.compile(r"In\[(\d+)\]")
_NUMBER = re.compile(r"\d+(\.\d*)?")


@dataclass(frozen=True)
class _Settings:
    checks: Policy = powers
    budget: float | None = None
    is_quiet: bool = False


def load(shell: Any) -> None:
    """Register the magics with an IPython shell."""
    shell.register_magic_function(partial(audit, shell), "line_cell", "gradproof")


def audit(shell: Any, line: str, cell: str | None = None) -> Any:
    """Audit every gradient that a cell or an expression computes.

    %%gradproof [--checks WHICH] [--budget SECONDS] [--quiet]
    %gradproof [options] EXPRESSION

    The code runs as it would without this line, in the same namespace and with the same output. `--checks`
    says which executions of a line are checked: powers (1st, 2nd, 10th ...; the default), all, first, or a
    list such as 1,5,20. `--budget` limits the seconds spent on checks. `--quiet` shows one line only.
    """
    settings, rest = _parse(line)
    if cell is None:
        return _audit_expression(shell, rest, settings)
    if rest:
        raise UsageError(f"%%gradproof does not know {rest!r}; it takes --checks, --budget and --quiet")
    return _audit_cell(shell, line, cell, settings)


def _audit_cell(shell: Any, line: str, cell: str, settings: _Settings) -> None:
    _refuse_await(shell, cell)
    # The line of the magic counts as the first, so that line numbers are those that the reader sees. Another
    # magic must itself stand in the first line.
    whole = cell if cell.lstrip().startswith("%%") else f"#%%gradproof {line}\n{cell}"
    session = Session(budget=Budget(settings.budget), policy=settings.checks)
    with _kept_tracebacks(shell) as tracebacks, _named_as_this_cell(shell), _running(session):
        result = shell.run_cell(whole, store_history=False)
    if result.error_before_exec is not None:
        raise result.error_before_exec.with_traceback(None)  # nothing has run, so nothing is to be reported
    _show(session, settings, result.error_in_exec)
    if result.error_in_exec is not None:
        raise _as_shown(result.error_in_exec, tracebacks)


def _audit_expression(shell: Any, expression: str, settings: _Settings) -> Any:
    if not expression:
        raise UsageError("%gradproof needs an expression: %gradproof train_step(x)")
    name = _source_name(shell, expression)
    try:
        code = shell.compile(expression, name, "eval")
    except SyntaxError as error:
        raise UsageError(
            f"%gradproof takes one expression, not {expression!r}; %%gradproof takes a cell"
        ) from error
    session = Session(budget=Budget(settings.budget), policy=settings.checks)
    try:
        with _running(session):
            value = eval(code, shell.user_ns)
    except BaseException as error:
        _show(session, settings, error)
        raise
    _show(session, settings, None)
    return value


@contextmanager
def _running(session: Session) -> Iterator[None]:
    session.start()
    try:
        yield
    finally:
        session.stop()


def _source_name(shell: Any, expression: str) -> str:
    """A name of its own for the text of an expression, under which it is found like the text of a file."""
    first = name = f"In[{_number(shell)}] %gradproof"
    lines = [f"{expression}\n"]
    count = 1
    while name in linecache.cache and linecache.getlines(name) != lines:
        count += 1
        name = f"{first} ({count})"
    # Without a time of change, the entry is never compared with a file.
    linecache.cache[name] = (len(expression), None, lines, name)
    return name


def _show(session: Session, settings: _Settings, error: BaseException | None) -> None:
    """Below the output of the cell, in a place of its own: its streams get nothing from us."""
    report = _report(session, error)
    if settings.is_quiet:
        display({"text/plain": to_text(report, detail="quiet").rstrip("\n")}, raw=True)
    else:
        display(report)


def _report(session: Session, error: BaseException | None) -> Report:
    """With the explanation of an exception, where a missing gradient is its reason.

    Nothing is run once more for it, as it is after a script: what a notebook holds goes on living.
    """
    report = session.report()
    if error is not None:
        error = error.with_traceback(_cells_part(error))
        place = error.__traceback__ and cell_name(error.__traceback__.tb_frame.f_code.co_filename)
        # The exception itself is not told: the notebook shows it below.
        report = connect(replace(report, script=Script(place or "the cell", exit_status=1)), error)
    return relative_to(report, os.getcwd())


def _cells_part(error: BaseException) -> Any:
    """The traceback from the code of the cell on."""
    trace = error.__traceback__
    while trace is not None and cell_name(trace.tb_frame.f_code.co_filename) is None:
        trace = trace.tb_next
    return trace


@contextmanager
def _named_as_this_cell(shell: Any) -> Iterator[None]:
    """The shell counts on before a cell runs; the code that runs inside it is known by the number of that cell."""
    cache, number = shell.compile.cache, _number(shell)
    shell.compile.cache = lambda code, _=0, raw_code=None: cache(code, number, raw_code=raw_code)
    try:
        yield
    finally:
        del shell.compile.cache


def _number(shell: Any) -> int:
    """The number of the cell that has called us."""
    frame = inspect.currentframe()
    while frame is not None:
        match = _CELL.fullmatch(cell_name(frame.f_code.co_filename) or "")
        if match:
            return int(match[1])
        frame = frame.f_back
    return int(shell.execution_count)


@contextmanager
def _kept_tracebacks(shell: Any) -> Iterator[list[list[str]]]:
    """Tracebacks that the shell formats meanwhile, held back: the exception goes on, and is shown at its end."""
    kept: list[list[str]] = []
    shell._showtraceback = lambda kind, error, lines: kept.append(lines)
    try:
        yield kept
    finally:
        del shell._showtraceback


def _as_shown(error: BaseException, tracebacks: list[list[str]]) -> BaseException:
    """The exception with the traceback it would have had without the magic, which IPython asks it for."""
    if tracebacks:
        try:
            error._render_traceback_ = lambda: tracebacks[-1]  # type: ignore[attr-defined]
        except AttributeError:
            return error  # one with slots: shown with the frames of the magic
    return error


def _refuse_await(shell: Any, cell: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if shell.autoawait and shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)):
        raise UsageError(
            "%%gradproof cannot run a cell with `await` outside a function; use `with gradproof.watch()` in it"
        )


def _parse(line: str) -> tuple[_Settings, str]:
    """The options at the beginning of a line, and the rest of it."""
    settings, position = _Settings(), 0
    while match := _OPTION.match(line, position):
        name, value = match[1], match[2]
        if name == "quiet":
            settings, position = replace(settings, is_quiet=True), match.end(1)
            continue
        if name not in ("checks", "budget"):
            raise UsageError(f"%gradproof has no option --{name}; it takes --checks, --budget and --quiet")
        settings, position = _with(settings, name, value or ""), match.end()
    return settings, line[position:].strip()


def _with(settings: _Settings, name: str, value: str) -> _Settings:
    if name == "budget":
        if not _NUMBER.fullmatch(value):
            raise UsageError(f"--budget needs a number of seconds, not {value!r}")
        return replace(settings, budget=float(value))
    try:
        return replace(settings, checks=parse_checks(value))
    except InvalidInput as error:
        raise UsageError(str(error)) from error

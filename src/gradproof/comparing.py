"""The entry point of comparisons: `compare`, one gradient in every mode, precision and framework."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from gradproof import __version__
from gradproof.audit.asked_for import asked_for
from gradproof.audit.budget import Budget
from gradproof.audit.modes import modes_for
from gradproof.audit.silenced import undisturbed
from gradproof.audit.versions import imported_frameworks
from gradproof.clock import TimeIsOver, time_limit
from gradproof.diagnosis import words
from gradproof.errors import InvalidInput
from gradproof.frontends.apart import ended
from gradproof.frontends.check.request import Output, Request, definition_of
from gradproof.frontends.record.place import here, span_of
from gradproof.frontends.select import frontend_for
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.modes.model import CallModes, LackingMode, Mode, ModesReport
from gradproof.modes.rewriting import with_rewriting
from gradproof.modes.table import compared
from gradproof.options import Options, options_of
from gradproof.render.modes_sources import in_folder, with_mode_sources

MOST_ROWS = 4  # of a Jacobian: each takes seconds in all modes


def compare(
    function: Callable[..., Any],
    *args: Any,
    output: Output = None,
    frameworks: Sequence[str] | None = None,
    only_here: bool = False,
    options: Options | None = None,
    **kwargs: Any,
) -> ModesReport:
    """Run the gradient of `function` at `args` in every mode, precision and framework that there is on this machine.

    The function is called as `check` calls it; what it computed is then run again op by op, compiled, and carried over
    to other frameworks, and every result is held against the proven gradient. `output` picks one number of the result;
    `frameworks` names those to be tried, all that are installed if it is left out; `only_here` leaves out what needs a
    process of its own, which takes seconds. What was not run within `options.seconds` is listed.
    """
    if not callable(function):
        raise InvalidInput(f"compare() needs a function, but got an object of type {type(function).__name__}")
    chosen = options_of(options)
    request = Request(function, args, kwargs, None, 1, output)
    call = span_of(here()) or definition_of(function) or Span("<unknown>", 0)
    with asked_for():
        checked = frontend_for(args, kwargs).check(request)
        if checked.impurity is not None:
            raise InvalidInput(
                f"`{request.name}` returns something else when it is called again, so that its modes cannot be compared"
            )
        captures = [replace(one, call=call) if one.call.line == 0 else one for one in checked.captures]
        budget = Budget(chosen.seconds, option="Options.seconds or --budget")
        return compared_calls(captures, chosen, os.getcwd(), frameworks, only_here, budget=budget)


def compared_calls(
    captures: Iterable[Capture],
    options: Options,
    folder: str,
    frameworks: Sequence[str] | None = None,
    is_here: bool = False,
    remarks: Sequence[str] = (),
    budget: Budget | None = None,
) -> ModesReport:
    """Every captured call in every mode; those that cannot be run again are named.

    A budget is for all calls together, and each may have its share of what is left of it; without one each has the time
    of a check. A Jacobian that is judged row by row is compared so, its first rows.
    """
    calls: list[CallModes] = []
    notes = list(remarks)
    allowed = budget or Budget()
    each = [row for capture in captures for row in _rows(capture, notes, folder)]
    with ended():
        for k, capture in enumerate(each):
            limit = options.seconds if allowed.left is None else allowed.left / (len(each) - k)
            over = f"the {limit or 0:.3g} s for this gradient were over ({allowed.option} gives more)"
            with undisturbed(), allowed.spending(), time_limit(limit, over):
                found = _compared(capture, *modes_for(capture.framework, frameworks, is_here), options)
            if found is None:
                notes.append(f"{in_folder(capture.call, folder)}: {_why_not(capture)}")
            else:
                calls.append(found)
    versions = imported_frameworks(line.framework for call in calls for line in call.lines)
    report = ModesReport(tuple(calls), __version__, versions, {}, tuple(notes))
    return with_mode_sources(report, folder)


def _rows(capture: Capture, notes: list[str], folder: str) -> tuple[Capture, ...]:
    if capture.rows is None:
        return (capture,)
    alike = capture.rows.alike
    rows = capture.rows.captures if alike is None else alike.each()
    if len(rows) > MOST_ROWS:
        place = in_folder(capture.call, folder)
        notes.append(f"{place}: of {len(rows):,} rows the first {MOST_ROWS} were compared")
    return rows[:MOST_ROWS]


def _why_not(capture: Capture) -> str:
    """Why a call has no gradient that could be run again."""
    if capture.failure is not None or capture.program is None:
        return capture.failure or "nothing that was recorded can be run again"
    names = words.comma_list([f"`{one.name}`" for one in capture.sources])
    if all(types.is_discrete(one.dtype) for one in capture.sources):
        return f"there is no gradient for {names}, which has no real numbers"
    return f"there is no gradient: `{capture.target}` was not computed from {names}"


def _compared(
    capture: Capture, modes: Sequence[Mode], lacking: Sequence[LackingMode], options: Options
) -> CallModes | None:
    found = compared(capture, modes, lacking, options)
    try:
        return None if found is None else with_rewriting(found, capture, modes, options)
    except TimeIsOver as over:
        return found and replace(found, notes=(*found.notes, f"no rewriting was found in time: {over}"))

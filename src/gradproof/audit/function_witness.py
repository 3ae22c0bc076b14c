"""The whole-function witness of `check`: the function as Python calls it, along one direction, against its record.

A tape sees arrays. What a function does with plain numbers on the way, it does not: then the gradient of what was
recorded is right, and is not the gradient of the function. Only calls of the function itself can show it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.blackbox import directional
from gradproof.blackbox.calls import from_tensor
from gradproof.blackbox.inputs import as_input
from gradproof.blackbox.result import Derivative
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.report import GradientReport
from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Policy, run
from gradproof.frontends.check.request import Checked, Request, definition_of
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.by_facts import undecided
from gradproof.judge.verdict import Verdict
from gradproof.options import Options
from gradproof.tape.custom import hearing_stops

KIND = "left-framework"
CALLS = 40  # of the function, about
SHARE, LEAST_SECONDS = 0.2, 0.25  # of the time of the check, or so many seconds, that the calls may take
BARS = 8.0  # error bars by which the slopes must differ, and the share of them: a lost part is no rounding
NOTICEABLE = 1e-3
# Of every entry's size: far above the rounding of the dtypes that most functions are called in; and a longer one, where
# a sum of many terms moves by so little that their roundings, of which there may be so many, show beside it.
STEP, LONGER, ROUNDINGS = 2.0**-8, 2.0**-4, 64
_COMPARED = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG)


def with_witness(
    request: Request, checked: Checked, found: list[GradientReport], options: Options, spent: float
) -> list[GradientReport]:
    """The reports, taken back where the function has another slope than what was recorded of it."""
    if not _has_one_meaning(request, checked, found):
        return found
    compared = [report for report in found if report.verdict in _COMPARED]
    gap, names = _heard(request, checked, compared, options, spent)
    if gap is None:
        return found
    return [_unseen(request, report, *gap) if report.source in names else report for report in found]


def contradicted(
    request: Request, checked: Checked, found: list[GradientReport], options: Options
) -> frozenset[str]:
    """The arguments for which the function has another slope than its references say, whatever the verdicts."""
    if not _has_one_meaning(request, checked, found):
        return frozenset()
    gap, names = _heard(request, checked, found, replace(options, witness=True), 0.0)
    return frozenset() if gap is None else names


def _heard(
    request: Request, checked: Checked, found: list[GradientReport], options: Options, spent: float
) -> tuple[tuple[Derivative, float] | None, frozenset[str]]:
    """The two slopes where they differ, and the arguments that were moved."""
    moved = _moved(request, found)
    value = _at_the_point(request, options, spent) if moved else None
    if value is None:
        return None, frozenset()
    names = frozenset(report.source for report in moved.values())
    return _gap(request, checked.captures[0], moved, value), names


def _has_one_meaning(request: Request, checked: Checked, found: Sequence[GradientReport]) -> bool:
    """Whether the record claims to be all of the function: not where a gradient is stopped, or chance rules."""
    if (
        request.order != 1
        or request.output == "each"
        or checked.impurity is not None
        or checked.left is not None
    ):
        return False
    if any(one.kind == KIND and one.severity != "note" for report in found for one in report.diagnostics):
        return False  # it is said already; what only may be is not
    programs = [capture.program for capture in checked.captures]
    return len(programs) == 1 and not any(
        program is None or any(node.op == "stop_gradient" for node in program.nodes) for program in programs
    )


def _moved(request: Request, found: Sequence[GradientReport]) -> dict[int, GradientReport]:
    """The arguments whose gradient has a real reference, by their place."""
    by_name = {report.source: report for report in found}
    moved = {}
    for k, (name, arg) in enumerate(zip(request.argument_names, _arguments(request))):
        report = by_name.get(name)
        if report is None or report.reference is None:
            continue
        is_array = isinstance(arg, float | np.ndarray) or (
            hasattr(arg, "numpy") and not hasattr(arg, "assign")
        )
        fits = types.is_real(report.dtype) and np.shape(report.reference) == np.shape(arg)
        if is_array and fits and np.size(arg) and np.isfinite(report.reference).all():
            moved[k] = report
    return moved


def _arguments(request: Request) -> list[Any]:
    return [*request.args, *request.kwargs.values()]


def _call(request: Request, args: Sequence[Any]) -> Any:
    n = len(request.args)
    return request.selected(request.function(*args[:n], **dict(zip(request.kwargs, args[n:]))))


def _at_the_point(request: Request, options: Options, spent: float) -> float | None:
    """The function's value, if calls show the function that a gradient is meant of, and take a small part of the time
    of the check."""
    began = time.process_time()
    try:
        with hearing_stops() as stops:
            value = _number(_call(request, _arguments(request)))
    except Exception:  # whatever the user's function raises
        return None
    seconds = CALLS * (time.process_time() - began)
    return value if not stops and (options.witness or seconds <= max(SHARE * spent, LEAST_SECONDS)) else None


def _gap(
    request: Request, capture: Capture, moved: dict[int, GradientReport], value: float
) -> tuple[Derivative, float] | None:
    """The slope of the function and that of what was recorded, where the error bars say that they differ.

    Both are called alike and in the same dtypes: what rounding makes of a function it makes of its record too.
    """
    args, rng = _arguments(request), np.random.default_rng(0)
    point = tuple(args[k] for k in moved)
    direction = tuple(_direction(rng, np.asarray(from_tensor(x))) for x in point)

    def function(*xs: Any) -> Any:
        given = list(args)
        for k, x in zip(moved, xs):
            given[k] = x
        return _call(request, given)

    replay = _replay(capture, [report.source for report in moved.values()])
    try:
        if not _is_near(value, _number(replay(*point))):
            return None  # rounding has its own way with this function
        if _move_alike(function, replay, point, direction):
            return None
        found, recorded = (directional(one, point, direction) for one in (function, replay))
    except Exception:  # the user's function may raise anything beside the point
        return None
    if not isinstance(found, Derivative) or not isinstance(recorded, Derivative):
        return None
    if found.status != "ok" or recorded.status != "ok":
        return None
    expected = 0.0
    for report, part in zip(moved.values(), direction):
        expected += float(np.sum(np.asarray(report.reference) * part))
    bars = BARS * (found.error + recorded.error)
    room = bars + NOTICEABLE * max(abs(expected), abs(found.value), abs(recorded.value))
    is_apart = min(abs(found.value - expected), abs(found.value - recorded.value)) > room
    return (found, expected) if is_apart else None


def _move_alike(
    function: Callable[..., Any], replay: Callable[..., Any], point: Sequence[Any], direction: Sequence[Array]
) -> bool:
    """Whether both change by the same over one step: then nothing is lost, and no slope has to be found."""
    inputs = [as_input(x, "check") for x in point]

    def moved(one: Callable[..., Any], step: float) -> float:
        shifted = (x.values + step * d for x, d in zip(inputs, direction))
        return _number(one(*(x.rebuild(new.astype(x.values.dtype)) for x, new in zip(inputs, shifted))))

    for step in (STEP, LONGER):
        own, recorded = ((moved(one, step), moved(one, -step)) for one in (function, replay))
        changes = own[0] - own[1], recorded[0] - recorded[1]
        if _is_near(*changes):
            return True
        unit = max(types.unit_roundoff(types.dtype_name(x.values)) for x in inputs)
        if not abs(changes[0] - changes[1]) <= ROUNDINGS * unit * abs(own[0]):
            return False
    return False


def _number(result: Any) -> float:
    return float(np.asarray(from_tensor(result)))


def _is_near(one: float, other: float) -> bool:
    return abs(one - other) <= NOTICEABLE * max(abs(one), abs(other))


def _replay(capture: Capture, names: Sequence[str]) -> Callable[..., Any]:
    """What was recorded, as a function of the arguments of these names, in its own dtypes."""
    program = capture.program
    assert program is not None
    nodes = [source.node for name in names for source in capture.sources if source.name == name]

    def function(*xs: Any) -> Any:
        inputs = {
            id: np.asarray(from_tensor(x), np.asarray(program[id].value).dtype)
            for id, x in zip(nodes, xs)
            if id is not None
        }
        return np.asarray(run(Ieee(), program, Policy(inputs=inputs, redecide=True)).outputs()[0])[()]

    return function


def _direction(rng: np.random.Generator, x: Array) -> Array:
    """Every entry moves, by about its own size."""
    size = np.maximum(np.abs(np.asarray(x, np.float64)), float(np.max(np.abs(x), initial=0.0)) * 0.1)
    return np.asarray(
        rng.uniform(0.5, 1.0, x.shape) * rng.choice([-1.0, 1.0], x.shape) * np.where(size > 0.0, size, 1.0)
    )


def _lost_at(report: GradientReport) -> Span | None:
    """Where the text of the function shows that a part may be lost."""
    places = (one.primary.span for one in report.diagnostics if one.kind == KIND and one.primary is not None)
    return next(places, None)


def _unseen(request: Request, report: GradientReport, found: Derivative, expected: float) -> GradientReport:
    name, place = request.name, _lost_at(report) or definition_of(request.function)
    slopes = f"{found.value:.6g} ± {found.error:.1g}, and what was recorded of it has {expected:.6g}"
    note = Diagnostic(
        KIND,
        "warning",
        "measured",
        f"a part of `{name}` was not seen",
        primary=annotated(place, f"called along one direction its slope is {slopes}"),
        subject=f"d {report.target} / d {report.source}",
        why=(
            f"A gradient follows arrays through the ops of the framework. `{name}`, called nearby as Python calls it, "
            f"changes otherwise than its recorded ops do: along one direction it has the slope {slopes}. So a part of "
            "it is computed from plain numbers, or from what was kept from another call, and counts as constant."
        ),
        fix=Fix("compute all of it with arrays, from the arguments"),
    )
    reason = f"a part of `{name}` was not seen: along one direction it has the slope {slopes}"
    return report.under(undecided(reason), (note,))

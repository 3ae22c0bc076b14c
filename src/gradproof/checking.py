"""The entry points for functions and notebooks: `check`, `assert_correct`, `watch`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from gradproof import __version__
from gradproof.audit.asked_for import announce, asked_for
from gradproof.audit.budget import parse_checks
from gradproof.audit.examine import examine, unexamined
from gradproof.audit.function_witness import with_witness
from gradproof.audit.impure import impure_reports, with_impurity
from gradproof.audit.intended import finished
from gradproof.audit.left_part import with_left
from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.audit.shapes import shape_report
from gradproof.audit.silenced import undisturbed
from gradproof.audit.versions import imported_frameworks
from gradproof.deferred.keeping import keeper_in
from gradproof.deferred.model import Ended
from gradproof.diagnosis.report import GradientReport, Report, untold_faults
from gradproof.errors import InvalidInput
from gradproof.frontends.check.request import Output, Request, definition_of
from gradproof.frontends.record.place import here, span_of
from gradproof.frontends.select import frontend_for
from gradproof.internal_error import fault_reason
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.options import Options, options_of
from gradproof.render.to_text import headline

ORDERS = (1, 2)


def check(
    function: Callable[..., Any],
    *args: Any,
    gradient: Any = None,
    order: int = 1,
    output: Output = None,
    options: Options | None = None,
    **kwargs: Any,
) -> Report:
    """Compare the gradient of `function` at `args` with the proven one.

    The framework follows from the arguments: TensorFlow tensors, variables and Keras models, or NumPy arrays
    and numbers, for which gradproof's own tape computes the gradient. `gradient` is one written by hand, a
    function of the same arguments or an array; it is judged in the tape's place. `order=2` checks the second
    derivatives. `output` picks one number of the result, or is "each" for all of them. Other keywords go to
    the function.
    """
    if not callable(function):
        raise InvalidInput(f"check() needs a function, but got an object of type {type(function).__name__}")
    if order not in ORDERS:
        raise InvalidInput(f"order= is 1 or 2, not {order!r}")
    if order == 2 and gradient is not None:
        raise InvalidInput(
            "order=2 and gradient= do not go together: to check a Hessian written by hand, check the "
            'gradient function with `gradient=hessian` and `output="each"`'
        )
    chosen = options_of(options)
    request = Request(function, args, kwargs, gradient, order, output)
    call = span_of(here()) or definition_of(function) or Span("<unknown>", 0)
    with asked_for():
        gradients = _gradients(request, call, chosen)
    announce(gradients)
    frameworks = imported_frameworks(gradient.framework for gradient in gradients)
    notes = tuple(dict.fromkeys(untold_faults(gradients)))
    report = Report(tuple(gradients), version=__version__, frameworks=frameworks, notes=notes)
    return relative_to(finished(report), os.getcwd())


def _gradients(request: Request, call: Span, options: Options) -> list[GradientReport]:
    began = time.process_time()
    checked = frontend_for(request.args, request.kwargs).check(request)
    definition = definition_of(request.function)
    if checked.impurity is not None and not checked.captures:
        return impure_reports(checked, request.name, call, definition)
    with undisturbed():
        found = [report for capture in checked.captures for report in _examined(capture, call, options)]
    hand = definition_of(request.gradient) if callable(request.gradient) else None
    found += [shape_report(wrong, request.name, call, hand) for wrong in checked.wrong_shapes]
    if checked.impurity is not None:
        found = [with_impurity(report, checked.impurity, request.name, definition) for report in found]
    if checked.left is not None:
        found = [with_left(report, checked.left) for report in found]
    with undisturbed():
        return with_witness(request, checked, found, options, time.process_time() - began)


def _examined(capture: Capture, call: Span, options: Options) -> list[GradientReport]:
    capture = _placed(capture, call)
    try:
        return examine(capture, options)
    except Exception as error:
        return unexamined(replace(capture, failure=fault_reason(error)))


def _placed(capture: Capture, call: Span) -> Capture:
    """Where the call is not in the user's own code, as on the command line, it is placed at the function."""
    if capture.call.line != 0:
        return capture
    rows = capture.rows and replace(
        capture.rows, captures=tuple(_placed(row, call) for row in capture.rows.captures)
    )
    return replace(capture, call=call, rows=rows)


class IncorrectGradient(AssertionError):
    """What `assert_correct` raises: the fault in one line, then the whole report, which is also `report`."""

    def __init__(self, function: str, report: Report) -> None:
        self.report = report
        # The pytest plugin shows this where there is room for one line only.
        self.headline = headline(report)
        super().__init__(f"the gradient of `{function}` is not right: {self.headline}\n\n{report}")


# As users know it, which is how tracebacks name it.
IncorrectGradient.__module__ = "gradproof"


def assert_correct(
    function: Callable[..., Any],
    *args: Any,
    gradient: Any = None,
    order: int = 1,
    output: Output = None,
    options: Options | None = None,
    **kwargs: Any,
) -> None:
    """Raise an AssertionError with the diagnosis as its message unless every gradient is proven correct."""
    __tracebackhide__ = True  # pytest then ends the traceback at the user's own line
    report = check(function, *args, gradient=gradient, order=order, output=output, options=options, **kwargs)
    if not all(
        row.intended or (row.verdict.severity == 0 and row.level != "error") for row in report.gradients
    ):
        raise IncorrectGradient(request_name(function), report)


def request_name(function: Callable[..., Any]) -> str:
    return Request(function, ()).name


@contextmanager
def watch(
    checks: str = "powers", options: Options | None = None, defer: str | os.PathLike[str] | None = None
) -> Iterator[Report]:
    """Audit every gradient that is computed inside; the report is complete when the block has ended.

    `checks` says which executions of one line are checked, as the option of `gradproof run` does. With `defer` nothing
    is judged: what is to be judged is kept in that folder, for `gradproof examine`.
    """
    session = Session(options_of(options), policy=parse_checks(checks))
    keeper = None if defer is None else keeper_in(os.fspath(defer), session.options)
    session.keeper = keeper
    report = Report(())
    session.start()
    try:
        yield report
    finally:
        session.stop()
        if keeper is not None:
            keeper.end(Ended(session.known()))
        finished = relative_to(session.report(), os.getcwd())
        # The report was handed out before there was anything to say; it is frozen from here on.
        for field in fields(Report):
            object.__setattr__(report, field.name, getattr(finished, field.name))

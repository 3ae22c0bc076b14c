"""Gradient calls that a program did not reach because it crashed: found in its source, and made in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any

from tensorflow.python.util import nest

from gradproof.frontends.after.effects import effect_of, effect_of_block
from gradproof.frontends.after.rerun import may_run
from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.record.model import GradientCall, OpenTape
from gradproof.frontends.record.source import argument, is_users, names_of, span_of
from gradproof.frontends.tensorflow.eager.arguments import PARAMETERS
from gradproof.frontends.tensorflow.eager.freeze import operand
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.ir.capture import Capture, Source
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of

_METHODS = ("gradient", "jacobian", "batch_jacobian")


@dataclass(frozen=True, eq=False)
class Unfinished:
    """A gradient call that would have come next: its tape's block, what stands between, the call."""

    tape: OpenTape
    frame: FrameType
    block: ast.With
    between: tuple[ast.stmt, ...]
    call: ast.Call

    @property
    def span(self) -> Span:
        place = (self.call.lineno, self.call.col_offset, self.call.end_lineno, self.call.end_col_offset)
        return Span(self.frame.f_code.co_filename, *place)

    @property
    def names(self) -> dict[str, Any]:
        """What the names meant where the program stopped; the program's own are not touched."""
        return {**self.frame.f_globals, **self.frame.f_locals}


def find_unfinished(trace: TracebackType | None, tapes: Iterable[OpenTape]) -> list[Unfinished]:
    """For each tape that waits in a frame of the crash, the call that it was opened for."""
    places = list(_users_frames(trace))
    found = []
    for tape in tapes:
        for frame, line in places:
            one = _in_frame(tape, frame, line)
            if one is not None:
                found.append(one)
                break
    return found


def _users_frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _in_frame(tape: OpenTape, frame: FrameType, line: int) -> Unfinished | None:
    entered, tree = tape.tape.entered, tree_of(frame.f_code.co_filename)
    if entered is None or tree is None or entered.file != frame.f_code.co_filename:
        return None
    for body in _bodies(tree):
        for k, block in enumerate(body):
            if not isinstance(block, ast.With) or not _opens(block, entered):
                continue
            variable = block.items[0].optional_vars
            if block.lineno <= line and isinstance(variable, ast.Name) and variable.id in frame.f_locals:
                return _next_call(tape, frame, line, block, variable.id, body[k + 1 :])
    return None


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def _opens(block: ast.With, entered: Span) -> bool:
    item = block.items[0].context_expr
    return (item.lineno, item.col_offset) == (entered.line, entered.column)


def _next_call(
    tape: OpenTape, frame: FrameType, line: int, block: ast.With, name: str, rest: list[ast.stmt]
) -> Unfinished | None:
    for k, statement in enumerate([*block.body, *rest]):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and node.lineno >= line and _asks(node, name):
                between = rest[: max(k - len(block.body), 0)]
                return Unfinished(tape, frame, block, tuple(between), node)
    return None


def _asks(call: ast.Call, tape: str) -> bool:
    asked = call.func
    return (
        isinstance(asked, ast.Attribute)
        and asked.attr in _METHODS
        and isinstance(asked.value, ast.Name)
        and asked.value.id == tape
    )


def finish(
    one: Unfinished, observation: TensorFlowObservation, mend: AbstractContextManager[Any] | None
) -> GradientCall | None:
    """The gradient call itself, made in the program's place; None where it cannot be made.

    If the program had got far enough its own tape is asked. With a `mend` the block is run again under it.
    """
    ask: list[ast.stmt] = [ast.copy_location(ast.Expr(one.call), one.call)]
    found = None
    if mend is None:
        found = _executed(one, ask, observation)
        produced = {value.id for event in one.tape.events for value in event.outputs}
        if found is None or not any(target.value.id in produced for target in found.targets):
            return None  # a name that still means something from before the tape
    else:
        with mend:
            found = _executed(one, [one.block, *one.between, *ask], observation)
    return None if found is None or found.exception is not None else found


def _executed(
    one: Unfinished, statements: list[ast.stmt], observation: TensorFlowObservation
) -> GradientCall | None:
    """The last gradient call that the statements make; they keep their places in the user's file."""
    would = f"what `{ast.unparse(one.call)}` would return"
    if not may_run(would, _effect(one, statements), is_repeated=len(statements) > 1):
        return None
    calls: list[GradientCall] = []
    before, observation.receiver = observation.receiver, calls.append
    code = compile(ast.Module(statements, []), one.frame.f_code.co_filename, "exec", dont_inherit=True)
    try:
        with sandbox():
            exec(code, one.names)
    except Exception:
        return None
    finally:
        observation.receiver = before
    own = [call for call in calls if call.span is not None and call.span.line == one.call.lineno]
    return replace(own[-1], occurrence=_occurrence(one, observation)) if own else None


def _effect(one: Unfinished, statements: list[ast.stmt]) -> str | None:
    """Of the statements, and of the hand-written gradients that a tape from before them may call."""
    found = (effect_of(rule) for rule in one.tape.rules)
    return effect_of_block(statements, one.names) or next((e for e in found if e is not None), None)


def _occurrence(one: Unfinished, observation: TensorFlowObservation) -> int:
    """Which execution of the line it would have been."""
    counted = 0
    for key, n in observation.executions.items():
        if isinstance(key, tuple) and key[0] is one.frame.f_code:
            counted += n if span_of((key[0], key[1])).line == one.call.lineno else 0
    return counted + 1


def named_only(one: Unfinished, reason: str) -> Capture:
    """What can be said of a call that could not be made: where it stands, and what it asks for."""
    method = one.call.func.attr if isinstance(one.call.func, ast.Attribute) else "gradient"
    nodes = [argument(one.call, k, PARAMETERS[method][k]) for k in (0, 1)]
    target = "target" if nodes[0] is None else ast.unparse(nodes[0])
    return Capture("tensorflow", one.span, target, tuple(_sources(one, nodes[1])), None, failure=reason)


def _sources(one: Unfinished, node: ast.expr | None) -> Iterator[Source]:
    if node is None:
        return
    try:
        if effect_of_block([ast.Expr(node)], one.names) is not None:
            raise LookupError(ast.unparse(node))
        with sandbox():
            structure = eval(compile(ast.Expression(node), one.span.file, "eval"), one.names)
        for name, leaf in zip(names_of(node, structure, "source"), nest.flatten(structure)):
            value = operand(name, leaf).value
            yield Source(name, value.shape or (), value.dtype, None, None)
    except Exception:
        yield Source(ast.unparse(node), (), "float32", None, None)

"""Runs a changed program in TensorFlow: what was not changed by the very ops that ran, and in their mode.

Nothing is said about a change unless the unchanged program, run this way, returns what the user's own run returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import dtypes, op_def_library, op_def_registry

from gradproof.errors import NotSupported
from gradproof.frontends.assemble.ran import Kept, Ran, kept
from gradproof.frontends.record.model import OpEvent
from gradproof.frontends.tensorflow.emit import value_in
from gradproof.frontends.tensorflow.kernels import executable, has_plain_attrs
from gradproof.frontends.tensorflow.traced.repeatable import PYTHON_OPS
from gradproof.frontends.tensorflow.unlogged import unlogged
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array

Replay = Callable[[Program, int], Array | None]

MOST_TRACED = 400  # tracing and compiling a graph takes about a millisecond for every op
ROUNDINGS = 64  # by which two runs of the same ops may differ: sums in another order
_OPTIONS: dict[str, dict[str, Any]] = {
    "graph": {"autograph": False},
    "xla": {"autograph": False, "jit_compile": True},
}


class _NotAsItRan(Exception):
    """An op cannot be run again as it ran."""


@dataclass
class NativeReplay:
    """Returns the gradient of a changed program for a node, or None: where it cannot be run as the user would."""

    capture: Capture
    trusted: dict[int, bool] = field(default_factory=dict)

    def __call__(self, program: Program, wrt: int) -> Array | None:
        tf, before = sys.modules.get("tensorflow"), self.capture.program
        if tf is None or before is None or not self._is_possible(program, wrt):
            return None
        if wrt not in self.trusted:
            self.trusted[wrt] = self._returns_what_was_seen(tf, before, wrt)
        if not self.trusted[wrt]:
            return None
        found = self._run(tf, program, wrt)
        return None if found is None else found[0]

    def _is_possible(self, program: Program, wrt: int) -> bool:
        """Rules of the user's own, or of a library, do not run again; nor do the copies that make a Jacobian."""
        capture = self.capture
        if capture.copies is not None or not capture.ran or capture.run.order != 1:
            return False
        way = descendants(program, [wrt]) & ancestors(program, program.outputs)
        return not any(node.id in way and node.scope is not None for node in program.nodes)

    def _returns_what_was_seen(self, tf: Any, program: Program, wrt: int) -> bool:
        found = self._run(tf, program, wrt)
        if found is None or not _same_value(found[1], program):
            return False
        seen = [one.observed for one in self.capture.sources if one.node == wrt and one.observed is not None]
        return all(found[0] is not None and _close(found[0], observed) for observed in seen)

    def _run(self, tf: Any, program: Program, wrt: int) -> tuple[Array | None, Array] | None:
        mode = self.capture.run.mode
        if not tf.executing_eagerly() or (mode != "eager" and len(program.nodes) > MOST_TRACED):
            return None
        try:
            plan = _RunningOrder(tf, program, wrt, self.capture.ran, mode)
            run = plan.gradient if mode == "eager" else tf.function(plan.gradient, **_OPTIONS[mode])
            with unlogged():
                gradient, target = run(*(tf.constant(program[id].value) for id in plan.given))
        except Exception:  # what TensorFlow refuses was not run, and nothing is claimed
            return None
        return None if gradient is None else np.asarray(tf.convert_to_tensor(gradient)), np.asarray(target)


class _Circle(Exception):
    """Units that wait for each other, by the nodes they were asked for."""

    def __init__(self, ids: set[int]) -> None:
        super().__init__()
        self.ids = frozenset(ids)


class _RunningOrder:
    """The units of a program in an order in which they can run: ops as they ran, and single nodes for the rest."""

    def __init__(self, tf: Any, program: Program, wrt: int, ran: tuple[Ran, ...], mode: str) -> None:
        self.tf, self.program, self.wrt, self.mode = tf, program, wrt, mode
        self.moving = descendants(program, [wrt])
        self.alive = _alive(program, wrt)
        self.needed = ancestors(program, program.outputs)
        ids = frozenset(node.id for node in program.nodes)
        self.kept: dict[int, Kept] = {}
        for one in ran:
            found = kept(one, program, ids)
            if found is not None:
                self.kept.update((node.id, found) for node in one.members)
        self.given = [wrt, *(node.id for node in program.nodes if self._is_argument(node))]

    def _is_argument(self, node: Node) -> bool:
        """What does not depend on the source is as it was recorded.

        Numbers are handed over; facts such as shapes and axes are constants, as a compiler demands.
        """
        is_given = not node.inputs or (node.id not in self.alive and node.value is not None)
        return node.id != self.wrt and is_given and node.id in self.needed and not node.is_discrete

    def gradient(self, *given: Any) -> tuple[Any, Any]:
        values: dict[int, Any] = dict(zip(self.given, given))
        with self.tf.GradientTape() as tape:
            tape.watch(values[self.wrt])
            for unit in self._in_order():
                self._compute(unit, values)
            target = values[self.program.outputs[0]]
        return tape.gradient(target, values[self.wrt]), target

    def _in_order(self) -> list[Node | Kept]:
        """Ops that wait for each other, since what was changed leads back into them, run node by node."""
        while True:
            try:
                return list(self._ordered())
            except _Circle as circle:
                units = [unit for id in circle.ids if isinstance(unit := self._unit(id), Kept)]
                if not units:
                    raise NotSupported("a changed op needs what it was changed into") from None
                for node in (member for unit in units for member in unit.ran.members):
                    self.kept.pop(node.id, None)

    def _ordered(self) -> Iterator[Node | Kept]:
        done: set[int] = set(self.given)
        waiting: set[int] = set()  # for others, which must not wait for them in turn
        for node in self.program.nodes:
            stack: list[int] = [node.id] if node.id in self.needed else []
            while stack:
                id = stack[-1]
                unit = self._unit(id)
                own = self._outputs(unit, id)
                missing = [] if id in done else [one for one in self._inputs(unit) if one not in done]
                if missing:
                    waiting.add(id)
                    if not waiting.isdisjoint(missing):
                        raise _Circle(waiting)
                    stack += missing
                    continue
                waiting.discard(id)
                stack.pop()
                if id not in done:
                    done.update(own)
                    yield unit

    def _unit(self, id: int) -> Node | Kept:
        return self.kept.get(id, self.program[id]) if id in self.alive else self.program[id]

    def _inputs(self, unit: Node | Kept) -> list[int]:
        if isinstance(unit, Kept):
            return [id for id in unit.inputs if id is not None]
        return [] if unit.value is not None and unit.is_discrete else list(unit.inputs)

    def _outputs(self, unit: Node | Kept, id: int) -> list[int]:
        if not isinstance(unit, Kept):
            return [id]
        return [node.id for node in unit.ran.members]

    def _compute(self, unit: Node | Kept, values: dict[int, Any]) -> None:
        if isinstance(unit, Node):
            moves = unit.id in self.moving and unit.id != self.wrt
            values[unit.id] = value_in(self.tf, unit, values, moves)
            return
        args = [self._argument(k, unit, values) for k in range(len(unit.inputs))]
        results = native(self.tf, unit.ran.event, args)
        for id, result in zip(unit.outputs, results):
            if id is not None:
                values[id] = result

    def _argument(self, k: int, unit: Kept, values: Mapping[int, Any]) -> Any:
        id, recorded = unit.inputs[k], unit.ran.event.inputs[k]
        if id is not None:
            return values[id]
        if recorded.array is None:
            raise _NotAsItRan(unit.ran.event.op)
        return self.tf.constant(recorded.array)


def _alive(program: Program, wrt: int) -> set[int]:
    """All that was computed from the source, decisions and what follows from them too."""
    found = {wrt}
    for node in program.nodes:
        if any(id in found for id in node.inputs):
            found.add(node.id)
    return found


def native(tf: Any, event: OpEvent, args: list[Any]) -> list[Any]:
    """The op by itself, in the mode that is on, on other inputs; a tape that is open hears it."""
    definition = op_def_registry.get(event.op)
    if (
        definition is None
        or definition.is_stateful
        or event.op in PYTHON_OPS
        or not has_plain_attrs(definition)
    ):
        raise _NotAsItRan(event.op)
    inputs, inferred = _grouped(definition, event, args)
    told = {
        one.name: one.type for one in definition.attr if one.name in event.attrs and one.name not in inferred
    }
    attrs = [part for name in inferred for part in (name, inferred[name])]
    attrs += [part for name, kind in told.items() for part in (name, executable(event.attrs[name], kind))]
    if tf.executing_eagerly():
        outputs = execute.quick_execute(event.op, len(event.outputs), args, tuple(attrs), context.context())
    else:
        others = {name: _graph_attr(event.attrs[name], kind) for name, kind in told.items()}
        outputs = list(op_def_library._apply_op_helper(event.op, **inputs, **others)[3])
    execute.record_gradient(event.op, args, tuple(attrs), outputs)
    return list(outputs)


def _grouped(definition: Any, event: OpEvent, args: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs by their names, and the attributes that follow from them: dtypes may be others than they were."""
    inputs: dict[str, Any] = {}
    inferred: dict[str, Any] = {}
    rest = list(args)
    for one in definition.input_arg:
        is_list = bool(one.number_attr or one.type_list_attr)
        n = int(event.attrs[one.number_attr]) if one.number_attr else 1  # type: ignore[call-overload]
        n = len(event.attrs[one.type_list_attr]) if one.type_list_attr else n  # type: ignore[arg-type]
        own, rest = rest[:n], rest[n:]
        inputs[one.name] = own if is_list else own[0]
        if one.type_attr:
            inferred[one.type_attr] = (
                own[0].dtype.as_datatype_enum if own else dtypes.float32.as_datatype_enum
            )
        if one.number_attr:
            inferred[one.number_attr] = n
        if one.type_list_attr:
            inferred[one.type_list_attr] = [x.dtype.as_datatype_enum for x in own]
    return inputs, inferred


def _graph_attr(value: Any, kind: str) -> Any:
    if kind.startswith("list("):
        return [_graph_attr(item, kind[5:-1]) for item in value or ()]
    return dtypes.as_dtype(value) if kind == "type" else executable(value, kind)


def _same_value(target: Array, program: Program) -> bool:
    expected = program[program.outputs[0]].value
    return expected is None or _close(target, np.asarray(expected))


def _close(found: Array, expected: Array) -> bool:
    if found.shape != expected.shape:
        return False
    a, b = np.asarray(found, np.complex128), np.asarray(expected, np.complex128)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return False
    narrow = types.dtype_name(expected) if found.itemsize > expected.itemsize else types.dtype_name(found)
    finite = np.isfinite(a)
    size = float(np.abs(b[finite]).max(initial=0.0))
    return bool((np.abs(a - b)[finite] <= ROUNDINGS * types.unit_roundoff(narrow) * size).all())


def replay_of(capture: Capture) -> Replay:
    return NativeReplay(capture)

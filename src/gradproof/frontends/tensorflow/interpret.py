"""Running a function's graph op by op, to learn what every op in it computes.

The user's own call has run already, in the user's own mode. This run touches nothing of the user's:
variables are stand-ins that hold what the variables held before the call, no random number is drawn, no
Python is called. What cannot be had that way is `Unknown`, with the reason, and so is everything
computed from it unless the user's call returned it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorflow.python.eager import context, execute
from tensorflow.python.framework import constant_op, dtypes, tensor_util
from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.tensorflow.attributes import execution_attrs
from gradproof.frontends.tensorflow.bodies import body_of
from gradproof.frontends.tensorflow.recorder import numbers
from gradproof.frontends.tensorflow.values import Unknown

MAX_STEPS = 200_000  # a longer program is not judged; its record would not fit in memory either
_SKIPPED = {"NoOp", "Assert", "Print", "PrintV2", "StringFormat", "ControlTrigger"}
CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
_SEEDED = ("StatelessRandom", "StatelessTruncated", "StatelessMultinomial", "StatelessParameterized",
           "StatelessShuffle", "RngBitGenerator")  # fmt: skip
PYTHON_OPS = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


class TooLong(Exception):
    """The interpretation passed its limit."""


@dataclass(eq=False, slots=True)
class Step:
    """One op of a graph that was run: the op, the tensors, the loop iterations around it."""

    operation: Any
    position: int
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    loop: tuple[int, ...]
    frame: Frame


@dataclass(eq=False)
class Frame:
    """One execution of one graph: `env` maps the graph's tensors to what they were.

    `parent` is the execution that made this one, by its op at `parent_position`.
    """

    graph: Any
    id: int = field(default_factory=lambda: next(numbers))
    env: dict[int, Any] = field(default_factory=dict)
    xla: bool = False
    parent: Frame | None = None
    parent_position: int = -1

    def get(self, tensor: Any) -> Any:
        """What a symbolic tensor was; an eager tensor is itself."""
        if isinstance(tensor, tf_ops.EagerTensor):
            return tensor
        frame: Frame | None = self
        while frame is not None:
            if tensor._id in frame.env:
                return frame.env[tensor._id]
            frame = frame.parent
        return None


@dataclass(eq=False)
class Interpretation:
    """The result: every step in order, and every execution of a graph."""

    steps: list[Step] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    not_known: set[str] = field(default_factory=set)


class Interpreter:
    """Interprets one call; `wanted` gives the tensors of a graph that are asked for besides its outputs."""

    def __init__(self, wanted: Any, supplied: Mapping[str, Sequence[Any]], on_frame: Any = None) -> None:
        self._wanted = wanted
        self._supplied = supplied
        self._on_frame = on_frame
        self._context = context.context()
        self._loop: tuple[int, ...] = ()
        self._position = -1
        self.result = Interpretation()

    def run(
        self, frame: Frame, args: Sequence[Any], outputs: Sequence[Any], known: Mapping[int, Any]
    ) -> list[Any]:
        """Execute a graph on eager tensors; `known` are tensors of the graph whose values were seen."""
        graph = frame.graph
        frame.env.update({symbol._id: value for symbol, value in zip(graph.inputs, args)})
        self.result.frames.append(frame)
        if self._on_frame is not None:
            self._on_frame(frame, args)
        needed = ancestors([*outputs, *self._wanted(graph)], graph.control_outputs)
        for position, operation in execution_order(graph, needed):
            if not _is_given(frame, operation):
                self._step(frame, position, operation, known)
        return [frame.get(symbol) for symbol in outputs]

    def _step(self, frame: Frame, position: int, operation: Any, known: Mapping[int, Any]) -> None:
        inputs = tuple(frame.get(symbol) for symbol in operation.inputs)
        self._position = position
        results = self._results(frame, operation, inputs)
        if results is None:
            return
        structural = _structure(frame, operation) is not None
        outputs = []
        for symbol, result in zip(operation.outputs, results):
            if isinstance(result, Unknown):
                result = known.get(symbol._id, result)
            if isinstance(result, Unknown):
                self.result.not_known.add(result.reason)
            frame.env[symbol._id] = result
            outputs.append(result)
        if not structural:
            if len(self.result.steps) >= MAX_STEPS:
                raise TooLong(f"the function runs more than {MAX_STEPS} ops")
            self.result.steps.append(Step(operation, position, inputs, tuple(outputs), self._loop, frame))

    def _results(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any] | None:
        kind = operation.type
        if kind in _SKIPPED:
            return None
        structure = _structure(frame, operation)
        if structure is not None:
            return structure(self, frame, operation, inputs)
        if kind in self._supplied:
            return self._supplied[kind]
        reason = _obstacle(operation, inputs)
        if frame.xla and draws_from_seed(operation):
            reason = f"{kind} drew its numbers in a compiled function, where they cannot be seen"
        if reason is None:
            try:
                return self._execute(operation, inputs)
            except Exception as error:
                reason = f"{kind} could not be run by itself: {str(error).splitlines()[0]}"
        return [Unknown(reason, out.dtype, out.shape) for out in operation.outputs]

    def _execute(self, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        if operation.type == "Const":
            proto = operation.node_def.attr["value"].tensor
            return [constant_op.constant(tensor_util.MakeNdarray(proto), dtypes.as_dtype(proto.dtype))]
        attrs = execution_attrs(operation)
        results = execute.quick_execute(
            operation.type, len(operation.outputs), list(inputs), attrs, self._context
        )
        return results or []

    def call(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        # A function of the older kind is called by an op that bears its name.
        name = operation.get_attr("f").name if operation.type in CALLS else operation.type
        return self._inner(frame, name, inputs, _xla(operation))

    def _inner(self, frame: Frame, name: str, inputs: Sequence[Any], xla: bool = False) -> list[Any]:
        graph = body_of(frame.graph, name)
        inner = Frame(graph, xla=xla or frame.xla, parent=frame, parent_position=self._position)
        return self.run(inner, inputs, graph.outputs, {})

    def branch(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        choice = inputs[0]
        if isinstance(choice, Unknown):
            return [Unknown(choice.reason, out.dtype, out.shape) for out in operation.outputs]
        if operation.type in ("If", "StatelessIf"):
            name = operation.get_attr("then_branch" if bool(choice._numpy_internal()) else "else_branch").name
        else:
            branches = operation.get_attr("branches")
            index = int(choice._numpy_internal())
            name = branches[index if 0 <= index < len(branches) else -1].name
        return self._inner(frame, name, inputs[1:])

    def loop(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        position = self._position
        condition, body = operation.get_attr("cond").name, operation.get_attr("body").name
        values: Sequence[Any] = inputs
        outer = self._loop
        iteration = 0
        try:
            while True:
                self._loop = (*outer, iteration)
                self._position = position
                (goes_on,) = self._inner(frame, condition, values)
                if isinstance(goes_on, Unknown):
                    return [Unknown(goes_on.reason, out.dtype, out.shape) for out in operation.outputs]
                if not bool(goes_on._numpy_internal()):
                    return values
                self._position = position
                values = self._inner(frame, body, values)
                iteration += 1
        finally:
            self._loop = outer


STRUCTURAL = {
    **dict.fromkeys(CALLS, Interpreter.call),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase"), Interpreter.branch),
    **dict.fromkeys(("While", "StatelessWhile"), Interpreter.loop),
}
"""Ops that only say which graph runs next: they leave no step of their own."""


def _structure(frame: Frame, operation: Any) -> Any:
    """How an op that only calls other graphs is run; None for all others."""
    if operation.type not in STRUCTURAL and frame.graph._is_function(operation.type):
        return Interpreter.call
    return STRUCTURAL.get(operation.type)


def _is_given(frame: Frame, operation: Any) -> bool:
    """An argument of the function: its value was there before."""
    return bool(operation.outputs) and all(out._id in frame.env for out in operation.outputs)


def _xla(operation: Any) -> bool:
    attr = operation.node_def.attr
    return "_XlaMustCompile" in attr and bool(attr["_XlaMustCompile"].b)


def _obstacle(operation: Any, inputs: Sequence[Any]) -> str | None:
    """Why an op must not, or cannot, be run a second time; None if it may."""
    for tensor in inputs:
        if tensor is None:
            return f"an input of {operation.type} was not computed"
        if isinstance(tensor, Unknown):
            return tensor.reason
    if operation.type in ("Placeholder", "PlaceholderV2"):
        return "a placeholder was not fed"
    if operation.type in PYTHON_OPS:
        return "a Python function ran inside the graph; it is not called a second time"
    if is_random(operation):
        return (
            f"{operation.type} drew its numbers inside the function, where they cannot be seen without a seed"
        )
    if is_stateful(operation) and not any(symbol.dtype == dtypes.resource for symbol in operation.inputs):
        return f"{operation.type} has state of its own and is not run a second time"
    return None


def is_stateful(operation: Any) -> bool:
    """Whether an op says that it may do something else the next time; one that fills new memory does not."""
    filled = operation.type == "Empty" and operation.get_attr("init")
    return bool(operation.op_def.is_stateful) and not filled


def is_random(operation: Any) -> bool:
    """A random op that keeps its state in itself (the others take it from a variable or as an input)."""
    names = {attr.name for attr in operation.op_def.attr}
    return is_stateful(operation) and {"seed", "seed2"} <= names


def draws_from_seed(operation: Any) -> bool:
    """A random op that keeps no state: its numbers follow from a seed, by a method that depends on the mode."""
    return str(operation.type).startswith(_SEEDED)


def ancestors(tensors: Sequence[Any], operations: Sequence[Any]) -> set[str]:
    """The ops of one graph that must run for these; what no output needs TensorFlow does not run either."""
    needed: set[str] = set()
    waiting = [tensor.op for tensor in tensors if not isinstance(tensor, tf_ops.EagerTensor)]
    waiting += operations
    while waiting:
        operation = waiting.pop()
        if operation.name not in needed:
            needed.add(operation.name)
            waiting += [symbol.op for symbol in operation.inputs]
            waiting += operation.control_inputs
    return needed


def execution_order(graph: Any, needed: set[str]) -> Iterator[tuple[int, Any]]:
    """The needed ops, each after what it needs, otherwise as they were made.

    The gradient of a loop adds inputs to a loop that is there already. An op that was made later than one
    which needs it gets the position of that one: it is a part of what came first.
    """
    done: set[str] = set()
    for position, first in enumerate(graph.get_operations()):
        waiting = [first] if first.name in needed else []
        while waiting:
            operation = waiting[-1]
            before = [*(symbol.op for symbol in operation.inputs), *operation.control_inputs]
            missing = [one for one in before if one.name not in done]
            if operation.name in done:
                waiting.pop()
            elif missing:
                waiting += missing
            else:
                done.add(waiting.pop().name)
                yield position, operation

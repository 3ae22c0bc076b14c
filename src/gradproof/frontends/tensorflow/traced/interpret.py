"""Running a function's graph op by op, to learn what every op in it computes.

The user's own call has run already, in the user's own mode. This run touches nothing of the user's:
variables are stand-ins that hold what the variables held before the call, no random number is drawn, no
Python is called. What cannot be had that way is `Unknown`, with the reason, and so is everything
computed from it unless the user's call returned it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from tensorflow.python.eager import context, execute
from tensorflow.python.framework import constant_op, dtypes, tensor_util
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import gen_optional_ops

from gradproof.clock import tick
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.traced.attributes import execution_attrs
from gradproof.frontends.tensorflow.traced.feeds import DRAWS, MOST_ROUNDS, NO_MORE_ROUNDS, Element
from gradproof.frontends.tensorflow.traced.given_twice import handed_on, repeated
from gradproof.frontends.tensorflow.traced.repeatable import (
    draws_from_seed,
    is_random,
    obstacle,
    unknown_input,
)
from gradproof.frontends.tensorflow.traced.streams import DATASETS
from gradproof.frontends.tensorflow.traced.subgraphs import (
    BRANCHES,
    CALLS,
    LOOPS,
    ancestors,
    body_of,
    execution_order,
)
from gradproof.frontends.tensorflow.values import UnknownTensor

MAX_STEPS = 200_000  # a longer program is not judged; its record would not fit in memory either
_SKIPPED = {"NoOp", "Assert", "Print", "PrintV2", "StringFormat", "ControlTrigger"}


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

    def place(self, operation: Any) -> tuple[int | str, ...]:
        """An op of this graph, and the ops that led here."""
        above: list[int] = []
        frame: Frame | None = self
        while frame is not None:
            above.append(frame.parent_position)
            frame = frame.parent
        return (operation.name, *above)

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


class GraphInterpreter:
    """Interprets one call; `wanted` gives the tensors of a graph that are asked for besides its outputs."""

    def __init__(
        self, wanted: Any, supplied: Mapping[int, Sequence[Element]], on_frame: Any = None, random: Any = None
    ) -> None:
        self._wanted = wanted
        self._random = random
        self.supplied = supplied
        self._drawn = {source: iter(elements) for source, elements in supplied.items()}
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
        own = self._told_apart(frame, args)
        frame.env.update({symbol._id: value for symbol, value in zip(graph.inputs, own)})
        self.result.frames.append(frame)
        if self._on_frame is not None:
            self._on_frame(frame, args)
        needed = ancestors([*outputs, *self._wanted(graph)], graph.control_outputs)
        for position, operation in execution_order(graph, needed):
            tick()
            if not _is_given(frame, operation):
                self._step(frame, position, operation, known)
        return [frame.get(symbol) for symbol in outputs]

    def _told_apart(self, frame: Frame, args: Sequence[Any]) -> list[Any]:
        """What a gradient in the graph is for is one argument, though the same tensor may be given for another, too."""
        own = list(args)
        asked = {getattr(symbol, "_id", None) for symbol in self._wanted(frame.graph)}  # variables have none
        if any(symbol._id in asked for symbol in frame.graph.inputs):
            for k in repeated(args):
                operation, own[k] = handed_on(args[k])
                self.result.steps.append(Step(operation, -1, (args[k],), (own[k],), self._loop, frame))
        return own

    def _step(self, frame: Frame, position: int, operation: Any, known: Mapping[int, Any]) -> None:
        inputs = tuple(frame.get(symbol) for symbol in operation.inputs)
        self._position = position
        results = self._results(frame, operation, inputs)
        if results is None:
            return
        structural = _structure(frame, operation) is not None
        outputs = []
        for symbol, result in zip(operation.outputs, results):
            if isinstance(result, UnknownTensor):
                result = known.get(symbol._id, result)
            if isinstance(result, UnknownTensor):
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
            found: Sequence[Any] = structure(self, frame, operation, inputs)
            return found
        if kind in DRAWS and inputs[0] is not None and inputs[0]._id in self._drawn:
            return self._draw(operation, self._drawn[inputs[0]._id])
        reason = unknown_input(operation, inputs)
        if reason is None and self._random is not None and not frame.xla and is_random(operation):
            numbers_drawn = self._random(frame.place(operation), operation, inputs)
            if numbers_drawn is not None:
                return cast(Sequence[Any], numbers_drawn)
        reason = reason or obstacle(operation)
        if frame.xla and draws_from_seed(operation):
            reason = f"{kind} drew its numbers in a compiled function, where they cannot be seen"
        if reason is None:
            try:
                return self._execute(operation, inputs)
            except Exception as error:
                reason = f"{kind} could not be run by itself: {str(error).splitlines()[0]}"
        return [UnknownTensor(reason, out.dtype, out.shape) for out in operation.outputs]

    def _execute(self, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        if operation.type == "Const":
            proto = operation.node_def.attr["value"].tensor
            return [constant_op.constant(tensor_util.MakeNdarray(proto), dtypes.as_dtype(proto.dtype))]
        attrs = execution_attrs(operation)
        results = execute.quick_execute(
            operation.type, len(operation.outputs), list(inputs), attrs, self._context
        )
        return results or []

    def _draw(self, operation: Any, elements: Iterator[Element]) -> Sequence[Any]:
        """The next element that the user's run drew."""
        element = next(elements, None)
        if operation.type == "IteratorGetNextAsOptional":
            if element is None:
                return [gen_optional_ops.optional_none()]
            return [gen_optional_ops.optional_from_value(list(element))]
        if element is None:
            return [UnknownTensor(NO_MORE_ROUNDS, out.dtype, out.shape) for out in operation.outputs]
        return element

    def call(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        # A function of the older kind is called by an op that bears its name.
        name = operation.get_attr("f").name if operation.type in CALLS else operation.type
        return self.inner(frame, name, inputs, _xla(operation))

    def inner(self, frame: Frame, name: str, inputs: Sequence[Any], xla: bool = False) -> list[Any]:
        """Run the graph of a function that another graph calls."""
        graph = body_of(frame.graph, name)
        inner = Frame(graph, xla=xla or frame.xla, parent=frame, parent_position=self._position)
        return self.run(inner, inputs, graph.outputs, {})

    def branch(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        choice = inputs[0]
        if isinstance(choice, UnknownTensor):
            return [UnknownTensor(choice.reason, out.dtype, out.shape) for out in operation.outputs]
        if operation.type in ("If", "StatelessIf"):
            name = operation.get_attr("then_branch" if bool(choice._numpy_internal()) else "else_branch").name
        else:
            branches = operation.get_attr("branches")
            index = int(choice._numpy_internal())
            name = branches[index if 0 <= index < len(branches) else -1].name
        return self.inner(frame, name, inputs[1:])

    @contextmanager
    def rounds(self) -> Iterator[Callable[[int], None]]:
        """For a loop: what is told the number of each round before it is run."""
        position, outer = self._position, self._loop

        def begin(iteration: int) -> None:
            self._loop, self._position = (*outer, iteration), position

        try:
            yield begin
        finally:
            self._loop = outer

    def loop(self, frame: Frame, operation: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        condition, body = operation.get_attr("cond").name, operation.get_attr("body").name
        values: Sequence[Any] = inputs
        iteration, n_frames = 0, len(self.result.frames)
        with self.rounds() as begin:
            while True:
                if iteration >= MOST_ROUNDS and self.is_training(n_frames):
                    return [UnknownTensor(NO_MORE_ROUNDS, out.dtype, out.shape) for out in operation.outputs]
                begin(iteration)
                (goes_on,) = self.inner(frame, condition, values)
                if isinstance(goes_on, UnknownTensor):
                    return [UnknownTensor(goes_on.reason, out.dtype, out.shape) for out in operation.outputs]
                if not bool(goes_on._numpy_internal()):
                    return values
                begin(iteration)
                values = self.inner(frame, body, values)
                iteration += 1

    def is_training(self, n_frames: int) -> bool:
        """Whether gradients were computed since a loop began: such a loop is looked at for some rounds only."""
        return any(self._wanted(frame.graph) for frame in self.result.frames[n_frames:])


STRUCTURAL = {
    **dict.fromkeys(CALLS, GraphInterpreter.call),
    **dict.fromkeys(BRANCHES, GraphInterpreter.branch),
    **dict.fromkeys(LOOPS, GraphInterpreter.loop),
    **DATASETS,
}
"""Ops that only say which graph runs next: they leave no step of their own."""


def _structure(frame: Frame, operation: Any) -> Any:
    """How an op that only calls other graphs is run; None for all others."""
    if operation.type not in STRUCTURAL and frame.graph._is_function(operation.type):
        return GraphInterpreter.call
    return STRUCTURAL.get(operation.type)


def _is_given(frame: Frame, operation: Any) -> bool:
    """An argument of the function: its value was there before."""
    return bool(operation.outputs) and all(out._id in frame.env for out in operation.outputs)


def _xla(operation: Any) -> bool:
    attr = operation.node_def.attr
    return "_XlaMustCompile" in attr and bool(attr["_XlaMustCompile"].b)

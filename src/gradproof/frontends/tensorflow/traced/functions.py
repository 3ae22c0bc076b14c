"""Calls of traced functions: what went in, what came out, and what the variables held before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from gradproof.frontends.record.local_names import local_names
from gradproof.frontends.record.model import Mode
from gradproof.frontends.record.source import Place, is_users, short_name, user_places
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.eager.remembered import WITHOUT_NUMBERS, remembered
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.earlier_traces import graphs, unseen_gradients
from gradproof.frontends.tensorflow.traced.feeds import Feeds, divert
from gradproof.frontends.tensorflow.traced.interpret import Frame, GraphInterpreter, Interpretation
from gradproof.frontends.tensorflow.traced.random_ops import Draws, RandomOps, agree
from gradproof.frontends.tensorflow.traced.repeatable import draws_from_seed
from gradproof.frontends.tensorflow.traced.rerun import NotRepeatable, rerun
from gradproof.frontends.tensorflow.traced.trace_reads import baked_in
from gradproof.frontends.tensorflow.traced.tracing import GraphGradient, Traces, components
from gradproof.frontends.tensorflow.traced.variable_copies import StandIns, snapshot
from gradproof.frontends.tensorflow.values import UnknownTensor, read_handle, unrecorded
from gradproof.ir.surroundings import Baked

_CONTENTS = "_gradproof_gradients"
"""The gradient calls in a function hang on the function itself: they hold its tensors, and go with it."""


@dataclass(eq=False)
class FunctionRun:
    """One call of a function from eager code."""

    id: int
    name: str
    graph: Any
    args: tuple[Any, ...]
    held: Mapping[int, Any]
    feeds: Feeds
    places: tuple[Place, ...]
    mode: Mode
    names: Mapping[str, int] = field(default_factory=dict)
    outputs: tuple[Any, ...] = ()
    draws: Draws | None = None
    baked: tuple[Baked, ...] = ()
    after: Mapping[int, Any] = field(default_factory=dict)
    symbols: tuple[Any, ...] = ()  # of a session: what the arguments stand for in its graph
    expansion: Expansion | None = None

    def kept(self, tensor: Any) -> Any:
        """What is kept of what went in or came out: nothing could stand for an iterator or a table."""
        return (
            remembered(tensor) if tensor._id in self.held or tensor.dtype not in WITHOUT_NUMBERS else tensor
        )


@dataclass(eq=False)
class Expansion:
    """A call op by op: its steps, and the tensors that its own outputs were in there."""

    interpretation: Interpretation
    outputs: Sequence[Any]
    originals: Mapping[int, int]
    standins: Mapping[int, Any]
    reruns: dict[int, dict[int, Any]] = field(default_factory=dict)
    failure: str | None = None


class Functions:
    """The hook on every call of a traced function."""

    def __init__(
        self,
        observation: TensorFlowObservation,
        listener: Listener,
        traces: Traces,
        random_ops: RandomOps,
        emit: Callable[[FunctionRun, Sequence[GraphGradient]], None],
    ) -> None:
        self._listener = listener
        self._observation = observation
        self._recorder = observation.recorder
        self._traces = traces
        self._emit = emit
        self._random = random_ops

    def call_flat(self, original: Any, function: Any, *args: Any) -> Any:
        """In the place of `AtomicFunction.call_flat`."""
        recorder = self._recorder
        if recorder.quiet or not context.executing_eagerly():
            return original(function, *args)
        self._random.count(function)
        if not (recorder.collections or self._gradients_in(function)):
            return original(function, *args)
        try:
            occurrence = self._occurrence(function)
            run = self._prepare(function, args) if occurrence or recorder.collections else None
        except Exception:
            self._observation.note_failure()
            run = None
        if run is None:
            return original(function, *args)
        recorder.run = run
        try:
            outputs = original(function, *run.args)
        except Exception:
            if run.feeds.error is not None:  # of the user's own data
                raise run.feeds.error from None
            raise
        finally:
            recorder.run = None  # nobody may have listened
        run.outputs = tuple(outputs or ())
        self._conclude(function, run)
        run.args, run.outputs = tuple(map(run.kept, run.args)), tuple(map(run.kept, run.outputs))
        if occurrence:
            self._emit(run, self._gradients_in(function))
        return outputs

    def _occurrence(self, function: Any) -> int:
        """Which execution this is of the gradient calls inside the function; 0 if it is not looked at."""
        gradients = self._gradients_in(function)
        if not gradients:
            return 0
        for key in {gradient.key for gradient in gradients}:
            self._observation.count(key)
        sites = self._observation.sites
        site, wanted = sites.begin(("function", gradients[0].key))
        self._recorder.background = sites.wants_next(site)
        self._listener.update()
        return site.executions if wanted else 0

    def _gradients_in(self, function: Any) -> list[GraphGradient]:
        """The gradient calls in a function and in those that it calls."""
        found: list[GraphGradient] | None = getattr(function, _CONTENTS, None)
        if found is None:
            found = self._search(function)
            setattr(function, _CONTENTS, found)
        return found

    def _search(self, function: Any) -> list[GraphGradient]:
        try:
            notes = [self._traces.peek(graph) for graph in graphs(function, set())]
            seen = [gradient for one in notes if one is not None for gradient in one.gradients]
            return seen or unseen_gradients(function)
        except Exception:
            self._observation.note_failure()
            return []

    def _prepare(self, function: Any, args: tuple[Any, ...]) -> FunctionRun:
        definition = function.cached_definition
        xla = "_XlaMustCompile" in definition.attr and definition.attr["_XlaMustCompile"].b
        with self._recorder.silence(), unrecorded():
            held = snapshot(args)
            args, feeds = divert(function.graph, args)
        return FunctionRun(
            next(numbers),
            function.name.decode(),
            function.graph,
            args,
            held,
            feeds,
            user_places(sys._getframe(2)),
            "xla" if xla else "graph",
            variables_by_name(sys._getframe(2)),
            baked=tuple(baked_in(list(graphs(function, set())), short_name(function.name.decode()))),
        )

    def _conclude(self, function: Any, run: FunctionRun) -> None:
        """What can only be asked right after the run: random numbers, and what became of the variables."""
        try:
            with self._recorder.silence(), unrecorded():
                run.draws = self._random.draws(function, lambda: list(graphs(function, set())))
                run.after = snapshot(run.args) if run.draws is not None else {}
        except Exception:
            self._observation.note_failure()


def variables_by_name(frame: FrameType | None) -> dict[str, int]:
    """The handles of variables that have a name in the user's code that calls a function, innermost first."""
    found: dict[str, int] = {}
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            for names in (local_names(frame), frame.f_globals):
                for name, thing in list(names.items()):
                    if name not in found and issubclass(type(thing), BaseResourceVariable):
                        found[name] = thing.handle._id
        frame = frame.f_back
    return found


def expand(run: FunctionRun, traces: Traces) -> Expansion:
    """Interpret a call once, whoever asks; the caller has silenced the recorder."""
    if run.expansion is None:
        with unrecorded():
            run.expansion = _expand(run, traces, run.draws)
            if run.draws is not None and not _repeats(run, run.expansion):
                run.expansion = _expand(run, traces, None)
    return run.expansion


def _repeats(run: FunctionRun, expansion: Expansion) -> bool:
    """Whether an interpretation with repeated random numbers ended as the user's run did."""
    mine = [read_handle(handle) for handle in expansion.standins.values()]
    true = [run.after[original] for original in expansion.standins]
    return agree(expansion.outputs, run.outputs) and agree(mine, true)


def _expand(run: FunctionRun, traces: Traces, draws: Draws | None) -> Expansion:
    standins = StandIns()
    args = standins.replace(run.args, run.held)
    reruns: dict[int, dict[int, Any]] = {}

    def on_frame(frame: Frame, inputs: Sequence[Any]) -> None:
        """Before a graph is taken apart, let the user's mode compute what only it can: gradients, random numbers."""
        if not frame.graph.building_function:
            return  # of a session, whose mode cannot be had a second time
        tensors, drawn = _own_results(frame.graph, traces), _drawn_by_compiler(frame)
        if (tensors or drawn) and not any(isinstance(tensor, UnknownTensor) for tensor in inputs):
            try:
                values = rerun(frame.graph, [*tensors, *drawn], standins.again(inputs), frame.xla)
            except NotRepeatable:
                return
            reruns[frame.id] = {symbol._id: value for symbol, value in zip(tensors, values)}
            frame.env.update({symbol._id: value for symbol, value in zip(drawn, values[len(tensors) :])})

    interpreter = GraphInterpreter(
        traces.wanted, run.feeds.elements, on_frame, None if draws is None else draws.draw
    )
    symbols = run.graph.outputs[: len(run.outputs)]
    known = {symbol._id: standins.tensor(output) for symbol, output in zip(symbols, run.outputs)}
    failure = None
    outputs: Sequence[Any] = ()
    try:
        outputs = interpreter.run(Frame(run.graph, xla=run.mode == "xla"), args, symbols, known)
    except Exception as error:
        failure = f"the function could not be taken apart: {type(error).__name__}: {error}"
    finally:  # also where the time for it is over
        if draws is not None:
            draws.close()
    return Expansion(interpreter.result, outputs, standins.originals, standins.first, reruns, failure)


def _drawn_by_compiler(frame: Frame) -> list[Any]:
    """The random numbers of a graph that XLA compiles; from the same seeds it draws other ones than the op would."""
    if not frame.xla:
        return []
    return [out for one in frame.graph.get_operations() if draws_from_seed(one) for out in one.outputs]


def _own_results(graph: Any, traces: Traces) -> list[Any]:
    """The gradients computed in a graph, in the order of its gradient calls."""
    notes = traces.peek(graph)
    if notes is None:
        return []
    return [t for call in notes.gradients for t in components(call.results) if t.graph is graph]

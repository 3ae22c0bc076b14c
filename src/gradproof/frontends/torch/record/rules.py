"""The rules that the engine applied in one run: those of ops, of functions of the user's, and those that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradproof.frontends.record.model import RuleRun, Value
from gradproof.frontends.record.source import span_of, users_place
from gradproof.frontends.torch.record.engine_run import EngineRun, NodeRun
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchEvent, TorchRecorder, numbers
from gradproof.frontends.torch.roles import differentiable_inputs


@dataclass(frozen=True, eq=False)
class TorchRules:
    """`places` are the indices that raw events have in the record; `value` is what stands for a value there."""

    run: EngineRun
    recorder: TorchRecorder
    places: Mapping[int, int]
    value: Callable[[Cell | None], Value | None]

    def pullbacks(self, events: Sequence[TorchEvent]) -> Iterator[RuleRun]:
        by_sequence = {event.sequence: event for event in events if event.sequence is not None}
        raised = None if self.run.error is None else users_place(self.run.error.__traceback__)
        for node, rule in self.run.nodes.items():
            scope = self.recorder.nodes.get(node)
            if not rule.done:
                yield from self._raised(node, rule, scope, raised)
                continue
            event = None if scope is not None else by_sequence.get(node._sequence_nr())
            results = {} if event is None else _by_input(event, rule.results)
            if scope is not None or results:
                yield self._pullback(rule, event, scope, results)
        yield from self._passed_through(events)
        yield from self._applied_before(events)

    def keep(self) -> None:
        """The gradients of this run may be differentiated again: the rules behind them are then part of a forward."""
        own = [rule for node, rule in self.run.nodes.items() if rule.done and node in self.recorder.nodes]
        self.recorder.applied += own

    def _applied_before(self, events: Sequence[TorchEvent]) -> Iterator[RuleRun]:
        """Rules of the user's in earlier runs whose results this one has gone back through."""
        made = {cell.id for event in events if self.run.id not in event.within for cell in event.outputs}
        for rule in self.recorder.applied:
            if any(cell is not None and cell.id in made for cell in rule.results):
                yield self._pullback(rule, None, self.recorder.nodes.get(rule.node), {})

    def _raised(self, node: Any, rule: NodeRun, scope: int | None, place: Any) -> Iterator[RuleRun]:
        """The rule of the user's that an exception came out of."""
        function = None if scope is None else self.recorder.all_scopes[scope].function
        code = getattr(getattr(function, "backward", None), "__code__", None)
        if place is not None and code is not None and place[0] is code:
            text = f"{type(self.run.error).__name__}: {self.run.error}"
            yield RuleRun(rule.id, node.name(), None, scope, None, (), (), text, span_of(place))

    def _passed_through(self, events: Sequence[TorchEvent]) -> Iterator[RuleRun]:
        """Changes in place that the graph does not know: what comes in for the result goes on for what was there."""
        makers = {cell.id: event for event in events for cell in event.outputs}
        rules = {node._sequence_nr(): rule for node, rule in self.run.nodes.items() if rule.done}
        for scope in self.recorder.all_scopes.values():
            if scope.function is not None:
                continue
            maker = makers.get(scope.inputs[0].id)
            while maker is not None and maker.scope in self.recorder.all_scopes and maker.sequence is None:
                maker = makers.get(maker.inputs[0].id)
            rule = None if maker is None else rules.get(maker.sequence)
            if rule is not None and len(rule.upstream) == 1:
                through = tuple(map(self.value, rule.upstream))
                yield RuleRun(next(numbers), scope.name, None, scope.id, None, through, through)

    def _pullback(
        self, rule: NodeRun, event: TorchEvent | None, scope: int | None, by_input: Mapping[int, Cell | None]
    ) -> RuleRun:
        results = tuple(map(self.value, rule.results))
        upstream = tuple(map(self.value, rule.upstream))
        if event is not None:
            upstream = (*upstream, *(None,) * (len(event.outputs) - len(upstream)))[: len(event.outputs)]
            results = tuple(self.value(by_input.get(k)) for k in range(len(event.inputs)))
        forward = None if event is None else self.places.get(event.index)
        return RuleRun(rule.id, rule.node.name(), forward, scope, None, upstream, results)


def _by_input(event: TorchEvent, results: Sequence[Cell | None]) -> Mapping[int, Cell | None]:
    """The results of a rule by the inputs of its op that they belong to; empty where that is not plain.

    A plain number, as in `1 + x`, has a result of its own, which is None, and is no input.
    """
    of_tensors = [one for one in results if one is not None]
    for some in (results, of_tensors):
        takers = differentiable_inputs(event.op, event.inputs, len(some))
        if takers:
            return dict(zip(takers, some))
    return {}

"""From what was heard of one gradient call to its record, free of PyTorch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

from gradproof.frontends.exits.evidence import left_in
from gradproof.frontends.record.model import (
    CustomScope,
    Exit,
    GradientCall,
    Observed,
    Operand,
    OpEvent,
    Tape,
    Value,
)
from gradproof.frontends.record.source import span_of, user_places
from gradproof.frontends.torch.record.asked import TorchAsked, asked_for, is_plain, receiver, unreached
from gradproof.frontends.torch.record.behind import Behind, far, near
from gradproof.frontends.torch.record.cell_values import CellValues
from gradproof.frontends.torch.record.definitions import code_of, head_of, result_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.exits import with_numbers
from gradproof.frontends.torch.record.facts import (
    compiled_in,
    doubt_of,
    followed,
    freed_of,
    going_back,
    made_of,
    mode_of,
    policy_of,
    raised_of,
    retained,
    weights_of,
)
from gradproof.frontends.torch.record.given_back import given_back
from gradproof.frontends.torch.record.given_twice import GivenTwice
from gradproof.frontends.torch.record.hooks import HookSteps
from gradproof.frontends.torch.record.lost import MOST_LEAVES
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.names import Named, named_in
from gradproof.frontends.torch.record.overwritten import overwritten
from gradproof.frontends.torch.record.recorder import TorchEvent, TorchRecorder, TorchScope, numbers
from gradproof.frontends.torch.record.rules import TorchRules
from gradproof.frontends.torch.record.transforms import IN_VMAP, plain, zeros_for
from gradproof.frontends.torch.record.waiting import Waiting
from gradproof.ir.span import Span

MOVED = "gradproof.Moved"
"""A leaf after its numbers were changed without anybody recording it: the leaf and a constant."""
STEP = 16  # between the numbers of events: hooks stand in between


class Finish:
    """One call being put together."""

    def __init__(
        self,
        run: EngineRun,
        recorder: TorchRecorder,
        also: Collection[int] = (),
        rule: Literal["backward", "jvp"] = "backward",
    ) -> None:
        """`also` are values whose history is wanted too; `rule` is the method that differentiates."""
        self.also, self.rule_name = also, rule
        self.run, self.recorder = run, recorder
        # `loss.requires_grad_()`: what it was computed from is what a gradient is wanted for
        if is_plain(run):
            run.targets = tuple(cell.before or cell for cell in run.targets)
        values = self.values = CellValues(recorder)
        self.value = values.of
        self.hooks = HookSteps([hook for hook in recorder.hooks if hook.run == run.id], self.value)
        self.places: dict[int, int] = {}  # of raw events among those of the record
        self.rules = TorchRules(run, recorder, self.places, lambda x: None if x is None else values.of(x))
        self.twice = GivenTwice(run, (), recorder.memory)
        self.lost: list[tuple[Named, bool]] = []  # leaves without a gradient, and whether theirs is read
        self.backward, self.exits = going_back(run, recorder), recorder.read_before(run.first)
        self.forward = [
            event for event in recorder.events if run.id not in event.within and event.index < run.first
        ]

    def call(self) -> GradientCall:
        run = self.run
        named = named_in(run.frame)
        spans = tuple(span_of(place) for place in user_places(run.frame))
        span = spans[0] if spans else None
        events = self.relevant
        versions = self.versions(events)
        self.twice = GivenTwice(run, events, self.recorder.memory)
        beneath, read = made_of(run, events, self.exits, self.leaves()), self.recorder.memory.read
        asked = asked_for(run, named, span, beneath, read, self.recorder.events)
        sources, observed = self._sources(asked, versions)
        self.lost = unreached(run, named)[:MOST_LEAVES]
        before = self.n_older(events)
        made = tuple(self.events(events, versions, before))
        doubt = doubt_of(run, events, self.recorder) or self.twice.doubt
        return GradientCall(
            id=run.id,
            api="gradient",
            span=span,
            stack=spans,
            through="",
            occurrence=run.occurrence,
            mode=mode_of(events),
            tape=Tape(0, "tape", None, watched=tuple(self._watched(asked, sources))),
            targets=tuple(self._targets({key: one.name for key, one in named.items()}, span)),
            sources=tuple(sources),
            observed=() if run.error is not None else tuple(observed),
            observed_from="returned",
            unconnected_gradients="zero" if run.fills_zeros else "none",
            output_gradients=tuple(weights_of(run, self.recorder.memory.read, self.value)) or None,
            events=made[before:],
            older=made[:before],
            pullbacks=(*self.rules.pullbacks(events), *self.hooks.pullbacks),
            scopes=(*self._scopes(events), *self.hooks.scopes),
            leaves=tuple(self.leaves()),
            calls=compiled_in(events, self.recorder),
            exception=None if run.error is None else f"{type(run.error).__name__}: {run.error}",
            raised=raised_of(run, self.recorder),
            freed=freed_of(run, events, self.recorder.freed),
            policy=policy_of(events),
            overwritten=overwritten(run, self.recorder, events) or given_back(run, self.recorder, events),
            kept=self.recorder.gone_through.held(run, named, span),
            doubt=doubt,
            unseen=frozenset() if doubt is None else frozenset(cell.id for cell in run.targets),
            framework="torch",
        )

    @property
    def made(self) -> set[int]:
        """The values whose graph this call has gone through; data have none."""
        events = () if self.run.keeps_graph else (*self._near.events, *self.backward)
        return {one.id for event in events for one in event.outputs if one.requires_grad}

    def waiting(self, call: GradientCall) -> Waiting:
        """The call with all its numbers read, to be told later, and what the leaves hold after it."""
        asked = list(self.run.leaves.items())
        grads = {
            key: self.value(self.recorder.memory.read(leaf.grad))
            for key, leaf in asked
            if key in self.run.held
        }
        self.values.read()
        return Waiting(call, [key for key, _ in asked], self.run.held, grads)

    @cached_property
    def _wanted(self) -> set[int]:
        needed = {cell.id for cell in self.run.targets if cell.leaf is None} | set(self.also)
        needed |= {raw.cell.id for raw in self.exits}  # the way may lead through plain numbers
        return needed | {cell.id for event in self.backward for cell in event.inputs if cell.leaf is None}

    @cached_property
    def _near(self) -> Behind:
        return near(self.forward, self._wanted, self.recorder.previous)

    @cached_property
    def relevant(self) -> list[TorchEvent]:
        """The events that the target, or something in the backward pass, was computed from."""
        return [*far(self.forward, self._wanted, self._near), *self._near.events, *self.backward]

    def n_older(self, events: Sequence[TorchEvent]) -> int:
        """How many events come before the first that a leaf went into: data that were made ready."""
        of_graph = (k for k, event in enumerate(events) if self.run.begins(event.inputs, event.outputs))
        return next(of_graph, len(events))

    def versions(self, events: Sequence[TorchEvent]) -> dict[int, list[Cell]]:
        """The values that each leaf had while it was used, by the leaf's id, oldest first."""
        found: dict[int, dict[int, Cell]] = {}
        cells = [cell for event in events for cell in event.inputs]
        for cell in (*cells, *self.run.targets):
            if cell.leaf is not None:
                found.setdefault(id(cell.leaf), {})[cell.id] = cell
        return {key: [cells[id] for id in sorted(cells)] for key, cells in found.items()}

    def _watched(self, asked: Sequence[TorchAsked], sources: Sequence[Operand]) -> Iterator[tuple[int, None]]:
        for one, source in zip(asked, sources):
            if one.tensor.requires_grad and one.used is None:
                yield source.value.id, None

    def _sources(
        self, asked: Sequence[TorchAsked], versions: dict[int, list[Cell]]
    ) -> tuple[list[Operand], list[Observed | None]]:
        sources, observed = [], []
        for k, one in enumerate(asked):
            own = versions.get(id(one.tensor))
            cell = one.used or (own[0] if own else self.recorder.memory.read(plain(one.tensor)))
            value = self.twice.source(one.tensor, self.value(cell))
            sources.append(Operand(one.name, value, is_collected=not one.bystander))
            observed.append(None if one.bystander else self._observed(k, one.tensor))
        return sources, observed

    def _observed(self, k: int, tensor: Any) -> Observed | None:
        run = self.run
        if run.is_opaque:
            return Observed(Value(-next(numbers), "float32", None, unknown=IN_VMAP))
        if run.inputs and not run.accumulates:
            result = run.results[k] if k < len(run.results) else None
            result = zeros_for(tensor) if result is None and run.fills_zeros else result
            seen = None if result is None else self.recorder.memory.read(plain(result), True)
            return None if seen is None else Observed(self.value(seen))
        cell = run.gradients.get(id(tensor)) or retained(run, tensor, self.recorder.memory.read)
        return None if cell is None else Observed(self.value(cell))

    def _targets(self, names: dict[int, str], span: Span | None) -> Iterator[Operand]:
        said = receiver(span) if len(self.run.outputs) == 1 else None
        for k, (tensor, cell) in enumerate(zip(self.run.outputs, self.run.targets)):
            yield Operand(said or names.get(id(tensor)) or f"output {k + 1}", self.value(cell))

    def events(
        self, events: Sequence[TorchEvent], versions: dict[int, list[Cell]], before: int
    ) -> Iterator[OpEvent]:
        """What was made ready, then what leaves became that were moved, then the rest; hooks behind their tensors."""
        for k, raw in enumerate(events, 1):
            if k == before + 1:
                yield from self._moved(versions)
                yield from self.twice.events(self.value)
            yield self._event(k * STEP, raw)
            yield from self.hooks.behind({cell.id for cell in raw.outputs}, k * STEP)

    def _moved(self, versions: dict[int, list[Cell]]) -> Iterator[OpEvent]:
        for first, *later in versions.values():
            yield from self.hooks.behind({first.id}, 0)
            for cell in later:
                yield OpEvent(0, MOVED, (self.value(first),), (self.value(cell),), {}, None, (), "forward")

    def _rule_of(self, raw: TorchEvent) -> int | None:
        """The rule that an op is part of; a sum that the engine makes of gradients is part of none."""
        rule = self.run.nodes.get(raw.node)
        return None if rule is None or (rule.done and raw.index > rule.ended) else rule.id

    def _event(self, index: int, raw: TorchEvent) -> OpEvent:
        self.places[raw.index] = index
        spans, is_backward = tuple(map(span_of, raw.places)), self.run.id in raw.within
        given = [self.value(followed(cell, self.backward) if is_backward else cell) for cell in raw.inputs]
        given = given if is_backward else self.twice.inputs(raw, given)
        event = OpEvent(
            index=index,
            op=raw.op,
            inputs=tuple(given if is_backward else map(self.hooks.instead, given)),
            outputs=tuple(self.value(cell) for cell in raw.outputs),
            attrs=raw.attrs,
            span=spans[0] if spans else None,
            stack=spans,
            phase="backward" if is_backward else "forward",
            within=raw.within,
            scope=raw.scope,
            pullback=self._rule_of(raw),
            call=raw.call,
            heard=raw.heard,
        )
        return with_numbers(event) if self.exits and not is_backward else event

    def _scopes(self, events: Sequence[TorchEvent]) -> Iterator[CustomScope]:
        known = {cell.id for event in events for cell in (*event.inputs, *event.outputs)}
        for scope in self.recorder.all_scopes.values():
            if scope.complete and any(cell.id in known for cell in scope.outputs):
                yield self._scope(scope)

    def _scope(self, raw: TorchScope) -> CustomScope:
        spans = tuple(map(span_of, raw.places))
        return CustomScope(
            id=raw.id,
            name=raw.name,
            kind="custom_gradient" if raw.function is not None else "grad_pass_through",
            parent=raw.parent,
            span=spans[0] if spans else None,
            definition=head_of(code_of(getattr(raw.function, "forward", None))),
            inputs=tuple(map(self.value, raw.inputs)),
            outputs=tuple(map(self.value, raw.outputs)),
            rule=result_of(code_of(getattr(raw.function, self.rule_name, None))),
            library=raw.library,
            left=()
            if raw.is_run_again
            else tuple(self.value(one.cell) for one in left_in(raw.id, self.recorder.leaves)),
        )

    def leaves(self) -> Iterator[Exit]:
        for raw in self.recorder.leaves:
            if raw.index < self.run.first:
                spans = tuple(map(span_of, raw.places))
                place = max((n for index, n in self.places.items() if index < raw.index), default=0)
                yield Exit(place, raw.how, self.value(raw.cell), spans[0] if spans else None, (), spans)

"""Why a framework returned no gradient: read off the recorded run, never from memory of what it usually does."""

from __future__ import annotations

import re

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.exits.nearest import nearest_exit
from gradproof.frontends.missing.dead_ends import as_text, exchanged, no_tensor, stored, unfollowed, unseen
from gradproof.frontends.missing.source_lines import line_at, rebinds
from gradproof.frontends.record.flow import ancestors, descendants, gives, is_discrete, takes
from gradproof.frontends.record.model import Exit, GradientCall, Operand, OpEvent
from gradproof.ir import types
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_TEXT = "string"  # the dtype of what is no number at all
_LOOKS = frozenset({"bool()", "format"})  # conversions whose result is no number to go on with
_NO_RULE = re.compile(r"gradient registry has no entry for: (\w+)")


def find_break(call: GradientCall, k: int) -> Break:
    """The reason for source `k`: the first that the run shows, from the plainest to the most general."""
    if call.emptied is not None:
        return call.emptied
    return dialect_of(call.framework).said(call, k, _FlowOfData(call, call.sources[k], k).reason())


def find_break_of_raised(call: GradientCall, k: int) -> Break | None:
    """The same for a call that raised: an op without a rule, a rule that raised, arguments that are no tensors."""
    search, dialect = _FlowOfData(call, call.sources[k], k), dialect_of(call.framework)
    own = dialect.raised(call, k)
    if own is not None:
        return dialect.said(call, k, own)
    return search.without_rule() or search.raised() or no_tensor(call, call.sources[k])


class _FlowOfData:
    """The flow of data around one source: what it reached, and what the target was made of."""

    def __init__(self, call: GradientCall, source: Operand, k: int) -> None:
        self.call, self.source, self.k = call, source, k
        self.dialect = dialect_of(call.framework)
        self.events = sorted((*call.older, *call.events), key=lambda event: event.index)
        self.forward = [e for e in self.events if e.phase == "forward" and self.dialect.role(e) != "shape"]
        self.reached = descendants(self.forward, {source.value.id})
        self.needed = ancestors(self.forward, {target.value.id for target in call.targets})
        self.path = [e for e in self.forward if takes(e, self.reached) and gives(e, self.needed)]

    def reason(self) -> Break:
        steps = (self._exchanged, self._integer, self._rebound, self._not_watched, self._blocked, self._outside,
                 self._unregistered, self._none, self._watched_late, self._reassigned, self._left, self._text,
                 self._stored, self._unfollowed, self._read_unseen, self._not_connected)  # fmt: skip
        return next(found for step in steps if (found := step()) is not None)

    def _none(self) -> Break | None:
        return self.dialect.returned_none(self.call, self.reached)

    def _integer(self) -> Break | None:
        if not types.is_discrete(self.source.value.dtype) and self.source.value.dtype != _TEXT:
            return None
        made = self._made_at(self.source.value.id)
        return Break(
            "integer-dtype",
            made or self.call.span,
            f"`{self.source.name}` has dtype {self.source.value.dtype}",
            self._called() if made else (),
            {"dtype": self.source.value.dtype},
        )

    def _not_watched(self) -> Break | None:
        tape = self.call.tape
        watched = {id for id, _ in tape.watched} | set(tape.watched_variables)
        own = {self.source.value.id} | ({self.source.variable.id} if self.source.variable else set())
        recorded = [event for event in self.path if event.is_heard_by(tape)]
        made_in_tape = any(gives(event, own) and event.is_heard_by(tape) for event in self.forward)
        # What the tape saw being made it follows only if it watches something that it was made of.
        is_followed = made_in_tape and bool(ancestors(self.forward, own) & watched)
        variable = self.source.variable
        # A tape sees every reading of a trainable variable by itself: there the path broke somewhere else.
        is_seen = variable is not None and variable.trainable and tape.watch_accessed_variables
        if tape.kind != "tape" or own & watched or not recorded or is_followed or is_seen:
            return None
        contributing = []
        made = self._made_at(self.source.value.id)
        what = "computed from nothing that the tape watches" if made_in_tape else self._what()
        if made is not None:
            contributing.append((made, f"`{self.source.name}` is {what}"))
        if tape.entered is not None:
            label = "this tape watched nothing" if not watched else "this tape did not watch it"
            contributing.append((tape.entered, label))
        return Break("not-watched", self.call.span, self.call.ending, tuple(contributing), {"what": what})

    def _rebound(self) -> Break | None:
        """Before the tape, a line gave the name of a variable to a tensor computed from it: `w = w - step`."""
        if self.source.variable is not None or not self.path:
            return None
        maker = next((e for e in self.forward if gives(e, {self.source.value.id})), None)
        if maker is None or maker.is_heard_by(self.call.tape) or not rebinds(maker.span, self.source.name):
            return None
        made_of = ancestors(self.forward, {self.source.value.id})
        if not any(self.dialect.role(e) == "read" and gives(e, made_of) for e in self.forward):
            return None
        label = f"`{self.source.name}` is a tensor from here on, and no variable"
        return Break("reassigned-variable", maker.span, label, self._called())

    def _what(self) -> str:
        variable = self.source.variable
        if variable is None:
            return "a constant"
        if not variable.trainable:
            return "a variable that is not trainable"
        return "a variable, and the tape was told not to watch variables"

    def _blocked(self) -> Break | None:
        """An op on the way that lets no gradient through, by its nature; where another way is open, it is not that."""
        if self._is_open():
            return None
        for event in self.path:
            role = self.dialect.role(event)
            if role == "stop":
                return Break("stop-gradient", event.span, "the path ends here", self._called())
            if role == "leave":
                return Break(
                    "left-framework", event.span, "runs outside TensorFlow", self._called(), {"how": event.op}
                )
            if self._is_step(event, self.needed):
                return self._step(event)
        return None

    def _step(self, event: OpEvent) -> Break:
        op = self.dialect.spelled(event.op)
        label = f"the result of {op} changes only in jumps"
        return Break("discrete-op", event.span, label, self._called(), {"op": op})

    def _ends(self, event: OpEvent) -> bool:
        return self.dialect.role(event) in ("stop", "leave") or self._is_step(event, self.needed)

    def _is_step(self, event: OpEvent, needed: set[int]) -> bool:
        """Whether real numbers go in and what is needed of the results changes in jumps only."""
        role = self.dialect.role(event)
        if role != "compute":
            return role == "discrete" or (role == "draw" and is_discrete(event))
        results = [value for value in event.outputs if value.id in needed]
        is_real = any(v.id in self.reached and not types.is_discrete(v.dtype) for v in event.inputs)
        return is_real and bool(results) and all(types.is_discrete(value.dtype) for value in results)

    def _is_open(self) -> bool:
        """Whether some way to the target passes no op that ends it."""
        others = [event for event in self.path if not self._ends(event)]
        reached = descendants(others, {self.source.value.id})
        return any(target.value.id in reached for target in self.call.targets)

    def _outside(self) -> Break | None:
        tape = self.call.tape
        unheard = [event for event in self.path if event.scope is None and not event.is_heard_by(tape)]
        outside = [event for event in unheard if self.dialect.role(event) != "read"]
        if tape.kind != "tape" or not outside:
            return None
        contributing = [(tape.entered, "the tape records from here")] if tape.entered else []
        contributing += [(span, "recording is stopped here") for span in tape.stopped_at]
        contributing += [(span, "and forgets it all here") for _, span in tape.reset_at if span is not None]
        return Break(
            "outside-tape",
            outside[0].span,
            "computed outside the tape",
            tuple(contributing),
            {"op": outside[0].op, "before": str(outside[0].index < self._first_inside())},
        )

    def _first_inside(self) -> int:
        return min((e.index for e in self.forward if e.is_heard_by(self.call.tape)), default=1 << 62)

    def _unregistered(self) -> Break | None:
        """A rule ran and returned nothing for this input."""
        by_index = {event.index: event for event in self.forward}
        for pullback in self.call.pullbacks:
            event = None if pullback.forward is None else by_index.get(pullback.forward)
            if event is None or event not in self.path:
                continue
            for value, result in zip(event.inputs, pullback.results):
                if result is None and value.id in self.reached and not types.is_discrete(value.dtype):
                    return self._no_rule(
                        event, f"{self.dialect.spelled(event.op)} returns no gradient for this input"
                    )
        return None

    def without_rule(self) -> Break | None:
        unknown = _NO_RULE.search(self.call.exception or "")
        named = [event for event in self.path if unknown is not None and event.op == unknown.group(1)]
        return self._no_rule(named[0], f"{named[0].op} has no gradient") if named else None

    def raised(self) -> Break | None:
        """The innermost rule that an exception came out of: the user's own, or that of an op."""
        rule = next((one for one in reversed(self.call.pullbacks) if one.exception is not None), None)
        if rule is None:
            return None
        facts = {"exception": str(rule.exception).split(": ", 1)[0], "op": rule.op}
        if rule.scope is not None:
            at = rule.raised_at
            if at is not None:
                return Break("custom-gradient", at, "raises here", self._raises(), facts)
            return self.dialect.refused(self.call, rule, facts)
        event = next((e for e in self.forward if e.index == rule.forward), None)
        if event is None:
            return None
        label = f"the rule of {event.op} raises {facts['exception']}"
        return Break("framework-rule", event.span, label, self._raises(), facts)

    def _raises(self) -> tuple[tuple[Span, str], ...]:
        return () if self.call.span is None else ((self.call.span, "and ends this call"),)

    def _no_rule(self, event: OpEvent, label: str) -> Break:
        facts = {"op": self.dialect.spelled(event.op)}
        return Break("no-gradient-registered", event.span, label, self._called(), facts)

    def _watched_late(self) -> Break | None:
        """The tape ran no rule for what it recorded of the path: it was told to watch only afterwards."""
        tape = self.call.tape
        watch = next((span for id, span in tape.watched if id == self.source.value.id), None)
        ran = {pullback.forward for pullback in self.call.pullbacks}
        first = next((event for event in self.path if event.is_heard_by(tape)), None)
        if watch is None or first is None or first.index in ran:
            return None
        used = ((first.span, f"`{self.source.name}` is used here, before that"),) if first.span else ()
        facts = {"what": "watched only after it was used"}
        return Break("not-watched", watch, "too late for what was computed before", used, facts)

    def _reassigned(self) -> Break | None:
        """The name means something newer than what the target was computed from."""
        if self.path or self.source.variable is not None:
            return None
        maker = next((e for e in self.forward if gives(e, {self.source.value.id})), None)
        if maker is None or not rebinds(maker.span, self.source.name):
            return None  # another result of the same numbers is no new meaning of a name
        if not ancestors(self.forward, {self.source.value.id}) & self.needed - {self.source.value.id}:
            return None
        return Break(
            "reassigned-variable",
            maker.span,
            f"`{self.source.name}` is a new tensor from here on",
            self._called(),
        )

    def _left(self) -> Break | None:
        leaves = [leave for leave in self.call.leaves if leave.value.id in self.reached and _cuts(leave)]
        if not leaves:
            return None
        leave = nearest_exit(self.call, leaves)
        made_of = ancestors(self.forward, {leave.value.id})
        # An integer has no gradient to lose: what made it of real numbers ends the path, as the argmax of an index.
        steps = [e for e in self.forward if takes(e, self.reached) and self._is_step(e, made_of)]
        if steps and types.is_discrete(leave.value.dtype):
            return self._step(steps[-1])
        label = f"{leave.how} turns the tensor into plain numbers"
        return Break("left-framework", leave.span, label, self._called(), {"how": leave.how})

    def _read_unseen(self) -> Break | None:
        return unseen(self.call, self.source, self._called())

    def _exchanged(self) -> Break | None:
        return None if self.path else exchanged(self.call, self.source, self.forward)

    def _stored(self) -> Break | None:
        return stored(self.dialect, self.forward, self.reached, self.needed, self._called())

    def _text(self) -> Break | None:
        return as_text(self.path, self._called())

    def _unfollowed(self) -> Break | None:
        """Forward mode follows the tangents of accumulators that were entered after its own, and no others."""
        if self.call.tape.kind != "accumulator" or not self.path:
            return None
        return unfollowed(self.call, self.source)

    def _not_connected(self) -> Break:
        names = ", ".join(f"`{target.name}`" for target in self.call.targets)
        if self.needed & self.call.unseen:
            label = f"no op in the record leads from `{self.source.name}` to {names}"
            return Break(
                "not-connected", self.call.span, label, (), {"target": names, "unseen": self.call.doubt or ""}
            )
        label = f"{names} was not computed from `{self.source.name}`"
        return Break("not-connected", self.call.span, label, (), {"target": names})

    def _made_at(self, id: int) -> Span | None:
        return next((event.span for event in self.events if gives(event, {id})), None)

    def _called(self) -> tuple[tuple[Span, str], ...]:
        return () if self.call.span is None else ((self.call.span, self.call.ending),)


def _cuts(leave: Exit) -> bool:
    """Printing or looking at a number cuts nothing; only conversions that hand it on do."""
    return leave.how not in _LOOKS and not line_at(leave.span).lstrip().startswith("print(")

"""Runs a script under observation and keeps what its gradient calls were, to be run again when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from gradproof.audit.runner import run
from gradproof.audit.silenced import undisturbed
from gradproof.audit.target import find_script
from gradproof.errors import InvalidInput
from gradproof.frontends.select import attach_all
from gradproof.internal_error import fault_reason
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span

MOST_CALLS = 20  # gradient calls that are compared: each takes seconds in all modes
MOST_IN_A_LINE = 4  # executions of a line that are looked at: it may ask for several gradients


@dataclass(eq=False)
class Collector:
    """One execution, the first unless told, of every gradient that a place asks for, or of those in one line only.

    A place may ask for several: a gradient inside a Hessian, a function that is called for one thing after the other.
    """

    line: int | None = None
    execution: int = 1
    captures: list[Capture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_left: int = 0
    seen: set[Hashable] = field(default_factory=set)
    again: set[Span] = field(default_factory=set)  # places that ask for the same once more

    def wants(self, occurrence: int) -> bool:
        return self.execution <= occurrence < self.execution + MOST_IN_A_LINE

    def receive(self, read: Callable[[], Sequence[Capture]], unread: Callable[[str], Capture]) -> None:
        """Nothing in here raises into the user's program."""
        try:
            with undisturbed():
                bare = unread("")
                asked = _asked(bare)
                if self.line is not None and bare.call.line != self.line:
                    return
                if asked in self.seen:
                    self.again.add(bare.call)
                if asked in self.seen or bare.run.occurrence < self.execution:
                    return
                if len(self.captures) >= MOST_CALLS:
                    self.n_left += 1
                    return
                new = list(read())
                self.seen |= {asked} if new else set()  # what could not be read may be told again
                self.captures += new
        except Exception as error:  # a fault of ours costs this call, and is told
            self.notes.append(fault_reason(error))


def _asked(bare: Capture) -> Hashable:
    """What a call asks for, as far as it can be told before it is read."""
    sources = (
        (one.name, one.shape, None if one.observed is None else one.observed.shape) for one in bare.sources
    )
    return bare.call, bare.target, tuple(sources)


def _how_often(line: int | None, execution: int) -> str:
    if execution == 1:
        return "no gradient"
    return f"a gradient {execution} times" if line is None else f"no gradient {execution} times"


@dataclass(frozen=True, eq=False)
class Collected:
    """The gradient calls of a script, what is to be said about them, and how the script ended."""

    captures: list[Capture]
    notes: list[str]
    exit_status: int
    again: Mapping[Span, int]  # the places that ran more often, and the execution that was kept


def collected(script: str, arguments: Sequence[str], line: int | None, execution: int = 1) -> Collected:
    """Run a script as Python would, and keep its gradient calls."""
    target = find_script(script)
    collector = Collector(line, execution)
    attachments = attach_all(collector.receive, collector.wants)
    try:
        outcome = run(target, arguments)
        for attachment in attachments:
            attachment.ended()
    finally:
        for attachment in attachments:
            attachment.remove()
    notes = list(collector.notes)
    if outcome.words:
        notes.append(f"the script ended with {outcome.words}")
    if collector.n_left:
        notes.append(f"{collector.n_left:,} more lines ask for gradients; --line chooses one of them")
    if (line is not None or execution > 1) and not collector.captures:
        place = f"line {line} of `{script}`" if line is not None else f"no line of `{script}`"
        raise InvalidInput(f"{place} asked for {_how_often(line, execution)}")
    again = {one.call: one.run.occurrence for one in collector.captures if one.call in collector.again}
    return Collected(collector.captures, notes, outcome.exit_status, again)

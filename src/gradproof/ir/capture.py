"""One gradient call as it was seen, free of any framework: the program, what was returned, and the facts around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradproof.ir.program import Program
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Surroundings
from gradproof.ir.types import Array


@dataclass(frozen=True)
class Pullback:
    """One application of a derivative rule in a gradient program, by the ids of what went in and came out.

    The rule differentiates the piece of the program from `inputs` to `outputs`: one op, or the nodes one op of
    a framework stands for, or the forward of a custom gradient. None where there was no gradient.
    """

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    upstream: tuple[int | None, ...]  # per output
    results: tuple[int | None, ...]  # per input
    span: Span | None = None


@dataclass(frozen=True)
class Scope:
    """One use of a custom gradient: its forward is the nodes of this scope from `inputs` to `outputs`.

    `upstream` and `results` are what its rule was given and returned (None where it returned None), if it ran.
    `is_upstream_idle`: nothing that ran needed what the rule was given, so that a compiled program never computed it.
    """

    id: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    upstream: tuple[int, ...] | None = None
    results: tuple[int | None, ...] | None = None
    used_at: Span | None = None
    defined_at: Span | None = None
    rule_at: Span | None = None
    complaint: str | None = None  # what the framework said when the rule failed: a dtype, a shape
    is_upstream_idle: bool = False
    library: str | None = None  # the package it comes from, if it is not the user's own
    nothing_for: tuple[int, ...] = ()  # the places of the inputs for which the rule returned None
    left: tuple[int, ...] = ()  # nodes that its forward goes on with outside of the framework
    unless_exact: str | None = None  # why no next derivative is known, if this is not proven to be one


@dataclass(frozen=True)
class Inner:
    """A gradient call that the program itself made: the nodes of its targets, their weights, and its results.

    A weight of None stands for ones. None is also a result or a weight that is not in the program.
    """

    targets: tuple[int, ...]
    weights: tuple[int | None, ...]
    results: tuple[int | None, ...]
    is_jacobian: bool = False


@dataclass(frozen=True)
class Copies:
    """A program that was made of copies of another one, as that of a Jacobian is: of which, and how.

    `rows_of`: the source in that program whose examples were taken for independent, if they were.
    """

    of: Program
    make: Callable[[Program], Program]
    rows_of: int | None = None


@dataclass(frozen=True)
class Again:
    """What of a derivative is taken as it is meant, since it is differentiated again, and not as it was computed.

    `rules` returned the derivative, and the exact one stands in the place of what they computed, as in that of wrong
    rules; the nodes `stops` are a `stop_gradient` inside a library that no first derivative feels, and count as open.
    `by_letter` is the program of the ops as they ran, `inside` what the target was computed from.
    """

    rules: tuple[Scope, ...]
    stops: tuple[int, ...]
    by_letter: Program
    inside: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Break:
    """Why a gradient is missing: the kind of cause, where the path broke, and the places that contributed."""

    kind: str
    span: Span | None
    label: str = ""
    contributing: tuple[tuple[Span, str], ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Stale:
    """Gradients of earlier steps that what was returned still contains, though an update has used them already."""

    held: Array
    updated: Span | None = None  # where the update was made, if that is known


@dataclass(frozen=True)
class Source:
    """What was differentiated for, under the user's name, and what came back.

    `node` is its place in the program, None where the program does not reach it; `recorded` is the node of the
    recorded gradient program that holds the gradient returned. `unseen`: there was a gradient, but not for our eyes.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    node: int | None
    observed: Array | None
    recorded: int | None = None
    missing: Break | None = None
    unseen: bool = False
    stale: Stale | None = None
    overwritten: Break | None = None  # where numbers were changed that its rules went on with


@dataclass(frozen=True)
class Alike:
    """Rows of which only the first was captured: the others are other entries of the same node, `target`.

    `each` captures them all, for when a row has to be looked at alone.
    """

    target: int
    each: Callable[[], tuple[Capture, ...]]


@dataclass(frozen=True)
class Rows:
    """A Jacobian as one capture per entry of its target, which has this shape; as the first where all are `alike`."""

    captures: tuple[Capture, ...]
    target_shape: tuple[int, ...]
    alike: Alike | None = None


@dataclass(frozen=True)
class RuleRuns:
    """The derivative rules that ran, the custom gradients, the gradient calls inside, and the library's own stops.

    `hidden_stops` leads from a node to the function of the library that it is in; `wholes` are gradients inside that
    go through custom ones which are not known one by one, each as if it were a custom gradient itself.
    """

    pullbacks: tuple[Pullback, ...] = ()
    scopes: tuple[Scope, ...] = ()
    inner: tuple[Inner, ...] = ()
    hidden_stops: Mapping[int, str] = field(default_factory=dict)
    wholes: tuple[Scope, ...] = ()


@dataclass(frozen=True)
class CallRun:
    """Which execution of its line a gradient call is, and how the framework ran it.

    `policy` is the dtype of fewest digits that the program's own policy computes in; `was_tried` says that we ran the
    call, after the program had ended, because the program left a rule unused. `targets` says who the targets are, by
    numbers that mean the same in all calls of a frontend, and `made_of` what they were computed from.
    """

    occurrence: int = 1
    order: int = 1
    mode: str = "eager"  # in which the framework computed it: eager, graph, xla, parts
    policy: str | None = None
    exception: str | None = None  # that the call raised
    was_tried: bool = False
    targets: tuple[int, ...] = ()
    made_of: frozenset[int] = frozenset()
    replica: int = 0  # of several that one process runs


@dataclass(frozen=True)
class Capture:
    """Everything known about one gradient call.

    `program` computes one number, the target weighted with the output gradients, from the forward ops that
    ran; `gradient_program` has the backward ops too, as far as they were recorded. They share their ids.
    """

    framework: str
    call: Span
    target: str
    sources: tuple[Source, ...]
    program: Program | None
    gradient_program: Program | None = None
    rules: RuleRuns = RuleRuns()
    run: CallRun = CallRun()
    around: Surroundings = field(default_factory=Surroundings)
    copies: Copies | None = None
    again: Again | None = None
    is_rest: bool = False  # sources of one call that got no gradient, where others did
    rows: Rows | None = None  # of a Jacobian that is judged row by row
    failure: str | None = None  # why there is no program: an exception of the call, or a limit of ours
    ran: tuple[Any, ...] = ()  # which nodes each op that ran became, for those who run them again
    faults: tuple[str, ...] = ()  # what went wrong in gradproof while the call was read, a sentence each

"""What the hooks keep of one derivative until it can be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradproof.frontends.jax.observe.asked import JaxAsked
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.trace import JaxCollection
from gradproof.ir.surroundings import Baked, Differences


@dataclass(frozen=True, eq=False)
class JaxExit:
    """Numbers that Python read off a tracer while it was differentiated: for the rest they are constants."""

    index: int
    how: str
    value: Any
    places: tuple[Any, ...]


@dataclass(eq=False)
class Linearisation:
    """One function that was linearised at a point: what went in, what came out, what ran in between."""

    id: int
    asked: JaxAsked
    tree: Any
    paths: tuple[Any, ...]
    sources: tuple[Bottom, ...]
    occurrence: int
    forward: JaxCollection
    targets: tuple[Bottom, ...] = ()
    is_staged: bool = False
    pieces: list[JaxPiece] = field(default_factory=list)
    residuals: tuple[Bottom, ...] = ()
    exits: list[JaxExit] = field(default_factory=list)
    plain: dict[int, Any] = field(default_factory=dict)  # Python numbers, by the arrays that stand for them
    made: dict[int, Any] = field(default_factory=dict)  # what Python computed with them
    unheard: str | None = None  # a function that may compute with them where nobody hears it
    tag: Any = None
    inner: list[Ending] = field(default_factory=list)  # gradients that the function itself computed
    # Forward rules that derivatives inside of the function applied: JAX's information about function and rule.
    rules_inside: list[tuple[Any, Any]] = field(default_factory=list)
    compiled: list[Execution] = field(
        default_factory=list
    )  # functions traced before, with values that have changed
    is_shared: bool = False  # the function also takes what it is differentiated for as a constant
    own: set[Any] = field(default_factory=set)  # variables of a jaxpr that the function defines
    # Of these, those whose equation takes what is differentiated for as a constant: its primitive, and which operands.
    constant_uses: dict[Any, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    folded: dict[int, Folded] = field(default_factory=dict)  # by the addresses of what was made


@dataclass(frozen=True, eq=False)
class Folded:
    """An equation whose operands were known while tracing: JAX writes its result into the jaxpr, and leaves it out."""

    primitive: Any
    params: Any
    operands: tuple[Any, ...]
    result: Any


@dataclass(eq=False)
class Execution:
    """One run of a compiled function: its jaxpr, what it was given and what it returned, and who called it."""

    jaxpr: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    places: tuple[Any, ...]
    name: str
    occurrence: int = 1
    frozen: tuple[Baked, ...] = ()


@dataclass(frozen=True, eq=False)
class Body:
    """What a step with jaxprs inside runs: all its arguments, and the variables of the linear jaxpr for them and for
    its results, None where there are none."""

    primitive: Any
    params: Any
    arguments: tuple[Bottom, ...]
    tangents_in: tuple[Any, ...]
    tangents_out: tuple[Any, ...]


@dataclass(eq=False)
class JaxPiece:
    """One step of a function, and the variables of the linear jaxpr that its tangents go in and out by.

    Only what the derivative goes through is named. `function` and `rule` are JAX's information about a function with a
    derivative of its own, `key` the rule itself; `body` is what a step with jaxprs inside runs.
    """

    id: int
    kind: str
    name: str
    places: tuple[Any, ...]
    inputs: tuple[Bottom, ...]
    outputs: tuple[Bottom, ...]
    tangents_in: tuple[Any, ...]
    tangents_out: tuple[Any, ...]
    body: Body | None = None
    function: Any = None
    rule: Any = None
    key: Any = None


@dataclass(eq=False)
class JaxRuleRun:
    """One application of a hand-written reverse rule."""

    id: int
    piece: int
    upstream: tuple[Bottom | None, ...]
    results: tuple[Bottom | None, ...] = ()


@dataclass(eq=False)
class Ending:
    """A derivative that was computed: the linearisation, how it was asked, and what was returned."""

    id: int
    of: Linearisation
    asked: JaxAsked
    weights: tuple[Bottom, ...]
    results: tuple[Bottom, ...]
    backward: JaxCollection
    rules: tuple[JaxRuleRun, ...] = ()
    linear: Any = None  # the linear jaxpr, and which of the targets are not in it
    is_known: tuple[bool, ...] = ()
    is_forward: bool = False  # the weights are tangents of the sources, the results those of the targets
    execution: Execution | None = None
    is_heard: bool = False  # the function was run op by op for all examples of a `vmap` around it
    own: set[Any] = field(default_factory=set)  # variables of a jaxpr that the pullback defines
    differences: Differences | None = None  # by a check of the program's own that has failed

"""What was seen of one gradient call, free of any framework: plain records with NumPy values.

Identities: every tensor has an `id` that is unique in the process; a variable has the id of its handle, and what is
read from it has ids of its own. An id that no event puts out is a leaf: a constant, or older than the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gradproof.frontends.record.value import Value as Value
from gradproof.ir.capture import Break, Stale
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Baked, Differences, KeptGraphs
from gradproof.ir.types import Array

Phase = Literal["forward", "backward"]
Api = Literal["gradient", "jacobian", "batch_jacobian", "gradients", "jvp"]
Mode = Literal["eager", "graph", "xla", "parts"]  # in parts: compiled functions, differentiated outside

NO_TENSOR = -1  # the id where there is no tensor; numbers of ours that stand for tensors are smaller
NOT_COMPUTED = "it was not computed"  # why a tensor of a graph has no value: nothing that ran needed it
# A scope that the program told the tapes itself, without a function that they could hear.
RECORDED: Literal["recorded"] = "recorded"
RETURN_OP = "gradproof.Return"  # joins a function's own tensors to those its caller received; an identity


@dataclass(frozen=True)
class Parameter:
    """A variable of the user: `id` is its handle's, `path` is Keras' name of it."""

    id: int
    name: str
    path: str | None
    dtype: str
    shape: tuple[int, ...] | None
    trainable: bool


@dataclass(frozen=True)
class OpEvent:
    """One executed op.

    `phase` is told from the gradient call that holds this event; `within` lists the gradient calls that
    were under way, outermost first, so that the backward ops of an inner tape can be found inside the
    forward of an outer one. `tapes` are the tapes that were recording. `scope` is the custom gradient
    whose forward or rule ran the op. `call` is the function call whose graph holds the op, `loop` the
    iteration of each loop around it. `heard` is False where a tape inside a function, whose call this is,
    was not recording. `hidden_in` is the library's function that called `stop_gradient`, where this op is one.
    """

    index: int
    op: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    attrs: Mapping[str, object]
    span: Span | None
    stack: tuple[Span, ...]
    phase: Phase
    within: tuple[int, ...] = ()
    tapes: tuple[int, ...] = ()
    scope: int | None = None
    pullback: int | None = None
    call: int | None = None
    loop: tuple[int, ...] = ()
    name: str = ""
    heard: bool = True
    hidden_in: str | None = None

    def is_heard_by(self, tape: Tape) -> bool:
        """Whether a tape was recording when the op ran; a tape inside a function has no number of its own."""
        return tape.id in self.tapes if tape.id else self.heard


@dataclass(frozen=True)
class RuleRun:
    """One application of a gradient rule: upstream in, gradients out, None where there was none.

    `forward` is the index of the op event that is differentiated, where it could be told; for the rule
    of a custom gradient `scope` is set instead. The ops of the rule are the events that carry this
    record's `id`. `parent` is the rule that ran this one, as the rule of `tf.recompute_grad` does.
    """

    id: int
    op: str
    forward: int | None
    scope: int | None
    parent: int | None
    upstream: tuple[Value | None, ...]
    results: tuple[Value | None, ...]
    exception: str | None = None
    raised_at: Span | None = None  # the user's line that raised it, if it was one
    # Where a rule differentiates several ops at once: what went into them, what came out, and their line.
    piece: tuple[tuple[Value, ...], tuple[Value, ...], Span | None] | None = None


@dataclass(frozen=True)
class CustomScope:
    """One use of a custom gradient: the events of its forward carry its `id` in `scope` and no `pullback`. A `whole`
    one is a gradient inside, which goes through rules that are not known one by one."""

    id: int
    name: str
    kind: Literal["custom_gradient", "recompute_grad", "grad_pass_through", "recorded", "whole"]
    parent: int | None
    span: Span | None
    definition: Span | None
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    variables: tuple[int, ...] = ()
    complete: bool = True
    rule: Span | None = None  # where the rule is written
    library: str | None = None  # the package that function and rule come from, if they are not the user's
    left: tuple[Value, ...] = ()  # what its forward goes on with outside of the framework
    unless_exact: str | None = None  # why no next derivative is known, if this is not proven to be one


@dataclass(frozen=True)
class Raised:
    """Where a gradient call raised: a line of the user's inside it, and the scope whose turn it was."""

    at: Span | None
    scope: int | None


@dataclass(frozen=True)
class FunctionCall:
    """One call of a traced function from eager code.

    The outputs are those of the user's own mode. The op events of the call were had by interpreting
    its graph on the same inputs; their values are those of op-by-op execution.
    """

    id: int
    name: str
    mode: Mode
    span: Span | None
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    failure: str | None = None
    not_known: tuple[str, ...] = ()
    baked: tuple[Baked, ...] = ()


@dataclass(frozen=True)
class InnerCall:
    """A gradient call whose backward ops another one may have gone through; `weights` are its output gradients."""

    api: str
    targets: tuple[Value | None, ...]
    weights: tuple[Value | None, ...]
    results: tuple[Value | None, ...]


@dataclass(frozen=True)
class Exit:
    """A tensor's numbers left TensorFlow: `numpy()`, `float()`, a Python condition, `print`."""

    index: int
    how: str
    value: Value
    span: Span | None
    tapes: tuple[int, ...]
    stack: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Tape:
    """What the tape was told; `entered` is the `with` line."""

    id: int
    kind: Literal["tape", "accumulator", "graph"]
    entered: Span | None
    persistent: bool = False
    watch_accessed_variables: bool = True
    watched: tuple[tuple[int, Span | None], ...] = ()
    watched_variables: tuple[int, ...] = ()
    consumed: bool = False
    reset_at: tuple[tuple[int, Span | None], ...] = ()
    stopped_at: tuple[Span, ...] = ()
    held: tuple[int, ...] = ()  # ops on a tape that stays open, each time it was asked from this place


@dataclass(frozen=True)
class Operand:
    """A target or a source under the user's name; `variable` is set where it is one."""

    name: str
    value: Value
    variable: Parameter | None = None
    is_collected: bool = True  # False for a value on the way that the framework keeps no gradient of
    is_read: bool = True  # False where only an optimizer has stepped over a gradient that is not there
    stale: Stale | None = None  # what the gradient that was read for it still contains


@dataclass(frozen=True)
class OpenTape:
    """A tape that was never asked for a gradient; `rules` are the hand-written gradients that asking it may call."""

    tape: Tape
    events: tuple[OpEvent, ...]
    leaves: tuple[Exit, ...]
    rules: tuple[Callable[..., Any], ...] = ()


@dataclass(frozen=True)
class Observed:
    """A gradient as the framework returned it; with `indices` it is a sparse sum of rows.

    `ids` are the tensors of the op events that hold the values (and the indices): others only inside a function.
    """

    values: Value
    indices: Value | None = None
    shape: tuple[int, ...] | None = None
    ids: tuple[int, ...] = ()

    @property
    def array(self) -> Array | None:
        return self.values.array if self.indices is None else self._dense

    @cached_property
    def _dense(self) -> Array | None:
        values, rows = self.values.array, None if self.indices is None else self.indices.array
        if values is None or rows is None or self.shape is None:
            return None
        dense = np.zeros(self.shape, values.dtype)
        np.add.at(dense, rows, values)
        return dense


@dataclass(frozen=True)
class GradientCall:
    """Everything known about one call that computed gradients.

    `observed` has one entry per source, None where the framework returned None, and is empty if the call
    raised. `observed_from` says how the numbers were had: `returned` to the user, `rerun` of the user's function in
    its own mode with the gradients as further outputs, or `interpreted` op by op. `older` are events from before the
    tape, or outside it, on which something inside depends. That record goes back only so far: `unseen` are values that
    may have been computed, by whatever ops, before it begins.
    """

    id: int
    api: Api
    span: Span | None
    stack: tuple[Span, ...]
    through: str
    occurrence: int
    mode: Mode
    tape: Tape
    targets: tuple[Operand, ...]
    sources: tuple[Operand, ...]
    observed: tuple[Observed | None, ...]
    observed_from: Literal["returned", "rerun", "interpreted"]
    output_gradients: tuple[Value | None, ...] | None = None
    tangents: tuple[Value | None, ...] | None = None
    unconnected_gradients: str = "none"
    events: tuple[OpEvent, ...] = ()
    older: tuple[OpEvent, ...] = ()
    unseen: frozenset[int] = frozenset()
    pullbacks: tuple[RuleRun, ...] = ()
    scopes: tuple[CustomScope, ...] = ()
    calls: tuple[FunctionCall, ...] = ()
    leaves: tuple[Exit, ...] = ()
    inner: tuple[InnerCall, ...] = ()
    variables: Mapping[int, Parameter] = field(default_factory=dict)
    exception: str | None = None
    raised: Raised | None = None
    failure: str | None = None
    stopped: frozenset[int] = frozenset()  # tensors that were declared constant for this call
    filled: frozenset[int] = frozenset()  # sources for which zeros came back in the place of None
    freed: Mapping[int, Span | None] = field(default_factory=dict)  # histories, by a call after the target
    differences: Differences | None = None
    policy: str | None = None  # the dtype of fewest digits that the program's own policy computes in
    overwritten: Break | None = None  # where numbers were changed that the backward pass goes on with
    emptied: Break | None = None  # where the program took its gradients away before they were used
    doubt: str | None = None  # why what was recorded may not be what ran
    framework: str = "tensorflow"
    replica: int = 0  # of a strategy that runs several in one process
    kept: KeptGraphs | None = None  # tensors with graphs that are over
    is_rest: bool = False  # its sources are those that a call gave nothing to, where others got a gradient

    @property
    def file(self) -> str:
        return self.span.file if self.span else ""

    @property
    def line(self) -> int:
        return self.span.line if self.span else 0

    @property
    def ending(self) -> str:
        """What stands under a call that gave no gradient."""
        returned = "gives it no gradient" if self.is_rest else "returns None"
        return returned if self.exception is None else "fails here"

"""Gradients that a program has taken away before its optimizer came to use them.

`zero_grad` between `backward` and `step` leaves the optimizer nothing to step with. A program may throw a gradient away
on purpose, and an optimizer may have used it already: told is only what a step finds none of, for none of its tensors,
while the numbers are still those that the gradient was computed for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from gradproof.frontends.record.model import GradientCall, Operand
from gradproof.frontends.record.patches import apply, wrap
from gradproof.frontends.record.source import first_user_frame, span_of
from gradproof.frontends.torch.record.leftover import Leftovers
from gradproof.frontends.torch.record.steps import Steps
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_EMPTYING = ((torch.optim.Optimizer, "zero_grad"), (torch.nn.Module, "zero_grad"))


class Emptied:
    """The latest call whose gradients wait for an optimizer."""

    def __init__(self, steps: Steps, leftovers: Leftovers, deliver: Callable[[GradientCall], None]) -> None:
        self._steps, self._leftovers, self._deliver = steps, leftovers, deliver
        self._call: GradientCall | None = None
        self._leaves: Mapping[int, Operand] = {}
        self._emptied_at: Span | None = None
        self._read: Callable[[], bool] = _never
        self._has_numbers: bool | None = None  # of the call; None: nobody has asked
        self._restore: Callable[[], None] = _nothing

    def await_step(self, call: GradientCall, leaves: Sequence[Any], read: Callable[[], bool]) -> None:
        """`leaves` are the sources of a call; `read` reads its numbers, or says that they are others by now."""
        self.close()
        self._read = read
        got = zip(leaves, call.sources, call.observed)
        self._call, self._leaves = call, {id(leaf): source for leaf, source, seen in got if seen is not None}
        self._steps.listen(self._stepped)
        self._restore = apply(wrap(owner, name, self._emptying) for owner, name in _EMPTYING)

    def close(self) -> None:
        self._call, self._leaves, self._emptied_at = None, {}, None
        self._read, self._has_numbers = _never, None
        self._steps.leave(self._stepped)
        self._restore()
        self._restore = _nothing

    def _emptying(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Where gradients become zeros, not None, this writes into numbers of the call."""
        frame = first_user_frame(sys._getframe(2))
        if frame is not None:
            self._emptied_at = span_of((frame.f_code, frame.f_lasti))
        if not kwargs.get("set_to_none", [*args[1:], True][0]):
            self._is_read()
        return original(*args, **kwargs)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._call is None:
            return
        frame = first_user_frame(sys._getframe(1))
        stepped = None if frame is None else span_of((frame.f_code, frame.f_lasti))
        closure = [*args[1:], *kwargs.values()]  # the first is the optimizer itself
        self._look(optimizer, stepped, computes_anew=any(closure))

    def _look(self, optimizer: Any, stepped: Span | None, computes_anew: bool) -> None:
        """With a closure the step computes the gradients itself, and what was there before is of no use to it."""
        parameters = {id(one): one for group in optimizer.param_groups for one in group["params"]}
        own = self._leaves.keys() & parameters.keys()
        if not own:
            return
        is_lost = (
            not computes_anew and stepped is not None and self._are_gone(parameters, own) and self._is_read()
        )
        if is_lost and self._call is not None and stepped is not None:
            self._deliver(self._without(self._call, own, stepped))
        self._leaves = {key: source for key, source in self._leaves.items() if key not in own}
        if not self._leaves:
            self.close()

    def _is_read(self) -> bool:
        """Whether the numbers of the call are known, which are read when somebody needs them."""
        if self._has_numbers is None:
            self._has_numbers = self._read()
        return self._has_numbers

    def _are_gone(self, parameters: Mapping[int, Any], own: set[int]) -> bool:
        is_unused = all(self._leftovers.is_as_computed(key, parameters[key]) for key in own)
        return is_unused and not any(_is_there(one.grad, self._emptied_at) for one in parameters.values())

    def _without(self, call: GradientCall, own: set[int], stepped: Span) -> GradientCall:
        sources = tuple(source for key, source in self._leaves.items() if key in own)
        contributing = [] if call.span is None else [(call.span, "the gradients were computed here")]
        if self._emptied_at is not None:
            contributing.append((stepped, "this step finds none"))
        at, label = self._emptied_at or stepped, "takes them away before they are used"
        label = label if self._emptied_at is not None else "this step finds none"
        why = Break("stale-accumulation", at, label, tuple(contributing))
        return replace(call, sources=sources, observed=(None,) * len(sources), emptied=why, is_rest=True)


def _nothing() -> None: ...


def _never() -> bool:
    return False


def _is_there(grad: Any, emptied_at: Span | None) -> bool:
    """Zeros are what `zero_grad(set_to_none=False)` leaves; without it they are a gradient like any other."""
    return grad is not None and (emptied_at is None or bool(torch.any(grad)))

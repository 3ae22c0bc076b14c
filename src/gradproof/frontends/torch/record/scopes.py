"""Uses of `torch.autograd.Function`: where each begins and ends, and which node of the graph is its."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import torch

from gradproof.frontends.exits.evidence import left_in
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.torch.record.custom_ops import is_traced, traced_as, written_as
from gradproof.frontends.torch.record.memory import PASS_ON, Cell
from gradproof.frontends.torch.record.mode import referred, tensors_in
from gradproof.frontends.torch.record.outside import FUNCTION, may_run_again, op_of
from gradproof.frontends.torch.record.recorder import TorchRecorder, TorchScope, numbers
from gradproof.frontends.torch.record.traced_lines import places_of
from gradproof.frontends.torch.record.transforms import plain
from gradproof.ir import types

_MADE_BY_TRANSFORMS = "torch._functorch.autograd_function"  # whose functions stand for one of the user's


class Scopes:
    """The hook on `Function.apply`."""

    def __init__(self, recorder: TorchRecorder, is_on: Callable[[], bool], failed: Callable[[], Any]) -> None:
        self._recorder, self._is_on, self._failed = recorder, is_on, failed

    def patches(self) -> list[Patch]:
        before = _Chain.last
        return [
            (_Chain, "last", staticmethod(partial(self._heard, before))),
            (_APPLY, "__code__", _TOLD),
            wrap(torch._C._functions, "DelayedError", self._once),
        ]

    def _once(self, original: Any, *args: Any) -> Any:
        """What `once_differentiable` returns has a graph that only raises: the numbers are those of the rule."""
        raises = original(*args)

        def marked(*given: Any) -> Any:
            results = raises(*given)
            try:
                if not self._recorder.quiet and self._is_on():
                    with self._recorder.silence(), torch.no_grad():
                        self._join(list(tensors_in(given)), list(tensors_in(results)))
            except Exception:
                self._failed()
            return results

        return marked

    def _join(self, given: list[Any], results: list[Any]) -> None:
        for before, after in zip(given, results):
            made_by_rule = [
                one for one in self._recorder.memory.candidates(plain(before)) if not one.requires_grad
            ]
            if made_by_rule:
                self._recorder.memory.alias(plain(after), made_by_rule[0])

    def _heard(self, original: Any, cls: Any, *args: Any, **kwargs: Any) -> Any:
        stands_for_another = cls.__module__ == _MADE_BY_TRANSFORMS and not is_traced(cls)
        if self._recorder.quiet or not self._is_on() or stands_for_another:
            return original(cls, *args, **kwargs)
        return self._applied(original, cls, args, kwargs)

    def _applied(self, original: Any, cls: Any, args: Any, kwargs: Any) -> Any:
        recorder = self._recorder
        scope = None
        try:
            parent = recorder.scopes[-1].id if recorder.scopes else None
            places = places_of(sys._getframe(3))
            name, function = traced_as(places) if is_traced(cls) else written_as(cls)
            scope = TorchScope(next(numbers), name, parent, places, function)
            with recorder.silence(), torch.no_grad():
                scope.inputs = tuple(recorder.memory.read(plain(tensor)) for tensor in tensors_in(args))
            scope.runs_what_it_is_given = any(callable(one) for one in args)
        except Exception:
            self._failed()
        if scope is None:
            return original(cls, *args, **kwargs)
        recorder.all_scopes[scope.id] = scope
        recorder.scopes.append(scope)
        try:
            result = original(cls, *args, **kwargs)
            try:
                with recorder.silence():
                    self._close(scope, list(tensors_in(result)), cls, args)
            except Exception:
                self._failed()
            return result
        finally:
            recorder.scopes.remove(scope)

    def _close(self, scope: TorchScope, results: list[Any], cls: Any, args: Any) -> None:
        given = referred(args, [])
        left = (one.cell.dtype for one in left_in(scope.id, self._recorder.leaves))
        if not all(map(types.is_discrete, left)) and may_run_again(cls, given):
            scope.is_run_again = True
        again = {FUNCTION: cls, "args": given, "kwargs": {}} if scope.is_run_again else {}
        scope.outputs = tuple(
            self._output(scope, tensor, again and {**again, "output": k}) for k, tensor in enumerate(results)
        )
        scope.complete = True
        for tensor in results:
            if tensor.requires_grad and tensor.grad_fn is not None:
                self._recorder.nodes[tensor.grad_fn] = scope.id

    def _output(self, scope: TorchScope, tensor: Any, again: dict[str, Any]) -> Cell:
        """What the function returned, as a value of its own: it has the function's rule for a history.

        Where that left PyTorch, `again` says how it is computed from what the function was given.
        """
        recorder, tensor = self._recorder, plain(tensor)
        with torch.no_grad():
            given = recorder.memory.standing(tensor) or recorder.memory.read(tensor)
            made = recorder.memory.made(tensor, bool(tensor.requires_grad))
            made.leaf = None
        recorder.emit(
            *((op_of(again[FUNCTION]), scope.inputs) if again else (PASS_ON, (given,))), made, again
        )
        return made


class _Like:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # PyTorch's own has this one cell, and code is exchanged only for code with the same.
        __class__  # type: ignore[name-defined]  # noqa: B018
        from gradproof.frontends.torch.record.scopes import _Chain

        return _Chain.last(cls, *args, **kwargs)


# Programs hold on to `MyFunction.apply` under names of their own, from before anybody listened: the function itself
# stays, and only what it does is exchanged.
_APPLY = torch.autograd.Function.__dict__["apply"].__func__
_TOLD = _Like.apply.__code__


class _Chain:
    """Who is told of an `apply`; the first is PyTorch's own."""

    last: Callable[..., Any] = staticmethod(
        FunctionType(_APPLY.__code__, _APPLY.__globals__, "apply", _APPLY.__defaults__, _APPLY.__closure__)
    )

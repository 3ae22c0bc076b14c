"""Hooks of the user's on tensors: each is a rule of its own, for a step whose forward changes nothing."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import torch

from gradproof.frontends.record.model import CustomScope, OpEvent, RuleRun, Value
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import Place, span_of, user_places
from gradproof.frontends.torch.record.definitions import code_of, result_of
from gradproof.frontends.torch.record.memory import PASS_ON, Cell
from gradproof.frontends.torch.record.recorder import TorchRecorder, numbers
from gradproof.frontends.torch.record.transforms import plain


@dataclass(frozen=True, eq=False)
class HookRun:
    """One run of a hook that gave another gradient back than it was given."""

    run: int
    name: str
    cell: Cell
    given: Cell
    result: Cell
    places: tuple[Place, ...]
    code: Any


class Hooks:
    """The patch of `Tensor.register_hook`."""

    def __init__(self, recorder: TorchRecorder, failed: Callable[[], Any]) -> None:
        self._recorder, self._failed = recorder, failed

    def patches(self) -> list[Patch]:
        return [wrap(torch.Tensor, "register_hook", self._register)]

    def _register(self, original: Any, tensor: Any, hook: Any) -> Any:
        if self._recorder.quiet or not callable(hook):
            return original(tensor, hook)
        places, known = user_places(sys._getframe(2)), weakref.ref(tensor)

        @wraps(hook)
        def heard(gradient: Any) -> Any:
            self._recorder.in_hooks += 1
            try:
                result = hook(gradient)
            finally:
                self._recorder.in_hooks -= 1
            if result is not None and self._recorder.within and not self._recorder.quiet:
                try:
                    self._note(known(), hook, places, gradient, result)
                except Exception:
                    self._failed()
            return result

        return original(tensor, heard)

    def _note(self, tensor: Any, hook: Any, places: tuple[Place, ...], given: Any, result: Any) -> None:
        if tensor is None:
            return
        recorder = self._recorder
        with recorder.silence(), torch.no_grad():
            read = recorder.memory.read
            cells = read(plain(tensor)), read(plain(given), True), read(plain(result), True)
        name = getattr(hook, "__name__", type(hook).__name__)
        name = "a hook" if name == "<lambda>" else name
        code = code_of(hook)
        recorder.hooks.append(HookRun(recorder.within[-1], name, *cells, places, code))


class HookSteps:
    """The hooks of one run as steps of the record: what used a tensor uses what came out of the last step on it."""

    def __init__(self, hooks: Sequence[HookRun], value: Callable[[Cell], Value]) -> None:
        self.events: list[tuple[int, OpEvent]] = []  # by the tensor that the hook hangs on
        self.scopes: list[CustomScope] = []
        self.pullbacks: list[RuleRun] = []
        self._instead: dict[int, Value] = {}
        # The hook that was hung up last runs last, so that its step comes first on the way forward.
        for hook in reversed(hooks):
            self._step(hook, value)

    def _step(self, hook: HookRun, value: Callable[[Cell], Value]) -> None:
        before = self.instead(value(hook.cell))
        after = replace(before, id=-next(numbers))
        spans = tuple(span_of(place) for place in hook.places)
        id, span = next(numbers), spans[0] if spans else None
        made = OpEvent(0, PASS_ON, (before,), (after,), {}, span, spans, "forward", scope=id)
        self.events.append((hook.cell.id, made))
        rule = result_of(hook.code) or span
        scope = CustomScope(
            id, hook.name, "custom_gradient", None, span, rule, (before,), (after,), rule=rule
        )
        self.scopes.append(scope)
        given, result = (value(hook.given),), (value(hook.result),)
        self.pullbacks.append(RuleRun(next(numbers), hook.name, None, id, None, given, result))
        self._instead[hook.cell.id] = after

    def instead(self, value: Value) -> Value:
        return self._instead.get(value.id, value)

    def behind(self, ids: set[int], index: int) -> Iterator[OpEvent]:
        """The steps on tensors that were just made."""
        for k, (id, event) in enumerate(self.events, 1):
            if id in ids:
                yield replace(event, index=index + k)

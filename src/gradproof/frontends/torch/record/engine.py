"""Gradient calls: the hooks that hear every run of PyTorch's engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import CodeType, FrameType
from typing import Any

import torch
from torch.autograd import graph as autograd_graph

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import first_user_frame
from gradproof.frontends.torch.record.compiled import back
from gradproof.frontends.torch.record.engine_run import EngineRun, NodeRun
from gradproof.frontends.torch.record.graph import LEAF, walk
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.mode import have_numbers
from gradproof.frontends.torch.record.recorder import CompiledCall, TorchRecorder, numbers
from gradproof.frontends.torch.record.transforms import are_batched, fills_zeros, plain

_BACKWARD, _TENSOR_BACKWARD = torch.autograd.backward.__code__, torch.Tensor.backward.__code__


class Engine:
    """The hooks on the engine. `wanted` is asked for every call; `finished` takes the runs that were looked at."""

    def __init__(
        self,
        recorder: TorchRecorder,
        begin: Callable[[FrameType], tuple[Site, bool]],
        finished: Callable[[EngineRun], None],
        unseen: Callable[[Site, Sequence[Any]], None],
        failed: Callable[[], Any],
    ) -> None:
        self._recorder = recorder
        self._known: dict[tuple[int, int], Site] = {}  # by a place in code
        self._codes: dict[int, CodeType] = {}  # are held, so that their ids stay their own
        self._begin, self._finished, self._unseen, self._failed = begin, finished, unseen, failed

    def patches(self) -> list[Patch]:
        name = "_engine_run_backward"
        runs = [
            (owner, name, self._heard(getattr(owner, name))) for owner in (autograd_graph, torch.autograd)
        ]
        batches = wrap(torch._vmap_internals, "_vmap", self._for_many)
        weighing = self._weighed(torch.autograd._make_grads)
        return [*runs, batches, (torch.autograd, "_make_grads", weighing)]

    def _for_many(self, original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The older `vmap`, around a run of the engine for many weights: what it was given and gave are plain again."""
        batched, recorder = original(function, *args, **kwargs), self._recorder

        def heard(*given: Any) -> Any:
            before, recorder.opaque = recorder.opaque, []
            runs, results = recorder.opaque, ()
            try:
                results = batched(*given)
                return results
            finally:
                recorder.opaque = before
                for run in runs:
                    self._told_later(run, given, results)

        return heard

    def _told_later(self, run: EngineRun, given: Any, results: Any) -> None:
        try:
            with self._recorder.silence(), torch.no_grad():
                if run.error is None and isinstance(results, tuple) and len(given) == 1:
                    run.rows, run.results = tuple(given[0]), results
                self._finished(run)
        except Exception:
            self._failed()

    def _weighed(self, original: Any) -> Callable[..., Any]:
        """Before the engine runs, PyTorch looks at what it is asked with; a refusal is a call that raised."""

        @wraps(original)
        def weigh(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(outputs, *args, **kwargs)
            except Exception as error:
                try:
                    self._refused(sys._getframe(1), outputs, error)
                except Exception:
                    self._failed()
                raise

        return weigh

    def _refused(self, caller: FrameType, outputs: Any, error: Exception) -> None:
        """`caller` is `backward` or `grad` itself, which knows what the gradient was wanted for."""
        frame = self._asking(caller)
        if self._recorder.quiet or frame is None or not have_numbers(outputs):
            return
        site, wanted = self._begin(frame)
        given = caller.f_locals.get("inputs")
        inputs = (given,) if isinstance(given, torch.Tensor) else tuple(given or ())
        if wanted:
            with self._recorder.silence(), torch.no_grad():
                run = self._started(site, frame, outputs, (None, True, False, inputs), {})
                for handle in list(self._listen(run)):
                    handle.remove()
                run.error = error
                self._finished(run)

    def _asking(self, caller: FrameType) -> FrameType | None:
        return first_user_frame(caller) or (caller if self._recorder.is_check else None)

    def _heard(self, original: Any) -> Callable[..., Any]:
        """The engine with ears.

        Nearly all calls of a training are looked at by nobody and take the short way in here. Behind a kernel every
        call of a function is dear, so that there is none but what must be asked.
        """
        recorder, known, frame_of = self._recorder, self._known, sys._getframe

        @wraps(original)
        def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            caller = frame = frame_of(1)
            if frame.f_code is _BACKWARD:
                frame = frame.f_back or frame
            if frame.f_code is _TENSOR_BACKWARD:
                frame = frame.f_back or frame
            site = known.get((id(frame.f_code), frame.f_lasti))
            is_one = len(outputs) == 1 and type(outputs[0]) is torch.Tensor
            if site is None or not is_one or recorder.is_on or recorder.quiet or not site.pass_by():
                return self._looked_at(original, caller, outputs, args, kwargs)
            result = original(outputs, *args, **kwargs)
            try:
                value = outputs[0].item()
                is_finite = value - value == 0
            except Exception:  # not one number, or none at all
                is_finite = False
            if not is_finite:
                self._unseen(site, outputs)
            return result

        return run

    def _looked_at(self, original: Any, caller: FrameType, outputs: Any, args: Any, kwargs: Any) -> Any:
        frame = self._asking(caller)
        if self._recorder.quiet or frame is None or not have_numbers(outputs):
            return original(outputs, *args, **kwargs)
        site, wanted = self._begin(frame)
        if wanted:
            self._known.clear()
            return self._observed(original, site, frame, outputs, args, kwargs, fills_zeros(caller))
        if not self._recorder.is_on:
            self._codes[id(frame.f_code)] = frame.f_code
            self._known[id(frame.f_code), frame.f_lasti] = site
        try:
            return original(outputs, *args, **kwargs)
        finally:
            self._unseen(site, outputs)

    def _observed(
        self, original: Any, site: Site, frame: FrameType, outputs: Any, args: Any, kwargs: Any, fills: bool
    ) -> Any:
        recorder = self._recorder
        run, handles = None, []
        try:
            with recorder.silence():
                run = self._started(site, frame, outputs, args, kwargs)
                run.fills_zeros = fills
                handles = [] if run.is_opaque else list(self._listen(run))
                self._began(run)
        except Exception:
            self._failed()
        if run is not None:
            recorder.within.append(run.id)
        try:
            result = original(outputs, *args, **kwargs)
            if run is not None:
                run.results = tuple(result) if isinstance(result, tuple) and not run.is_opaque else ()
            return result
        except BaseException as error:
            if run is not None:
                run.error = error
            raise
        finally:
            for handle in handles:
                handle.remove()
            if run is not None:
                recorder.within.remove(run.id)
            if run is not None and run.is_opaque and recorder.opaque is not None:
                recorder.opaque.append(run)
            elif run is not None:
                try:
                    with recorder.silence(), torch.no_grad():
                        self._finished(run)
                except Exception:
                    self._failed()

    def _started(self, site: Site, frame: FrameType, outputs: Any, args: Any, kwargs: Any) -> EngineRun:
        weights, retain_graph, create_graph, inputs = (*args, *(None,) * 4)[:4]
        run = EngineRun(
            next(numbers), frame, site, tuple(outputs), tuple(weights or ()), tuple(inputs or ()),
            bool(kwargs.get("accumulate_grad", True)), bool(create_graph), bool(retain_graph),
        )  # fmt: skip
        run.first, run.occurrence = next(numbers), site.executions
        run.is_inside = bool(self._recorder.within)
        run.is_batched = are_batched((*run.outputs, *run.inputs, *run.weights))
        if self._recorder.legacy_batches:
            run.is_batched, run.is_opaque, run.weights = True, True, ()
        run.targets = tuple(self._recorder.memory.read(plain(tensor)) for tensor in run.outputs)
        return run

    def _began(self, run: EngineRun) -> None:
        with torch.no_grad():
            run.held = self._recorder.leftovers.before(run)

    def _listen(self, run: EngineRun) -> Iterator[Any]:
        """Walk the graph and hang an ear on every node; yields what takes them off again."""
        for node in walk([tensor.grad_fn for tensor in run.outputs if isinstance(tensor, torch.Tensor)]):
            if node.name() == LEAF:
                leaf = node.variable
                run.leaves[id(leaf)] = leaf
                run.before[id(leaf)] = leaf.grad
                yield node.register_prehook(self._at_leaf(run, leaf))
            else:
                yield self._listen_at(run, node)
        for tensor in run.outputs:
            if isinstance(tensor, torch.Tensor) and tensor.grad_fn is None and tensor.requires_grad:
                run.leaves[id(tensor)] = tensor  # a leaf is its own target

    def _listen_at(self, run: EngineRun, node: Any) -> Any:
        run.nodes[node] = NodeRun(next(numbers), node)
        return node.register_hook(self._at_node(run, run.nodes[node]))

    def _at_leaf(self, run: EngineRun, leaf: Any) -> Callable[[Any], None]:
        def seen(gradients: Any) -> None:
            if gradients and gradients[0] is not None:
                with self._recorder.silence(), torch.no_grad():
                    run.gradients[id(leaf)] = self._recorder.memory.read(plain(gradients[0]), True)

        return self._guarded(seen)

    def _at_node(self, run: EngineRun, node: NodeRun) -> Callable[[Any, Any], None]:
        def seen(results: Any, upstream: Any) -> None:
            with self._recorder.silence(), torch.no_grad():
                node.upstream, node.results = self._cells(upstream), self._cells(results)
                node.done, node.ended = True, next(numbers)
            call = self._recorder.compiled.get(node.node)
            if call is not None:
                self._beside_compiled(run, call, node.node, upstream, results)

        return self._guarded(seen)

    def _beside_compiled(
        self, run: EngineRun, call: CompiledCall, node: Any, upstream: Any, results: Any
    ) -> None:
        """The derivative of compiled code has run: the rules of its ops, one by one, are heard like those of others."""
        behind = walk([one.grad_fn for one in call.made.values()])
        handles = [self._listen_at(run, one) for one in behind if one.name() != LEAF]
        try:
            back(self._recorder, call, node, upstream, results, run.keeps_graph)
        finally:
            for handle in handles:
                handle.remove()

    def _guarded(self, seen: Callable[..., None]) -> Callable[..., None]:
        def guarded(*args: Any) -> None:
            try:
                seen(*args)
            except Exception:
                self._failed()

        return guarded

    def _cells(self, tensors: Any) -> tuple[Cell | None, ...]:
        read = self._recorder.memory.read
        return tuple(read(plain(one), True) if isinstance(one, torch.Tensor) else None for one in tensors)

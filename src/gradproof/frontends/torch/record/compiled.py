"""Compiled code, whose ops nobody hears: the graph it was compiled from is run beside it, op by op, on copies.

The program goes on with what the compiled code returned. In the record the ops of the graph lead to those numbers, and
on the way back the rules of the same ops lead to the gradients that the compiled derivative gave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import Any

import torch

from gradproof.frontends.record.model import RETURN_OP
from gradproof.frontends.record.on_import import on_import
from gradproof.frontends.record.patches import apply, wrap
from gradproof.frontends.torch.record.compiled_graph import CHANGES, FAILS, RANDOM, VIEWS, CompiledGraph
from gradproof.frontends.torch.record.mode import have_numbers, tensors_in
from gradproof.frontends.torch.record.recorder import CompiledCall, TorchRecorder, numbers
from gradproof.frontends.torch.record.traced_lines import places_of

COMPILER = "torch._inductor.compile_fx"
NODE = "CompiledFunctionBackward"
Edge = tuple[Any, int]

_LISTENING: list[CompiledCode] = []
"""Code stays compiled longer than anybody listens, and is heard by whoever does when it runs."""


class CompiledCode:
    """The hook on the compiler."""

    def __init__(self, recorder: TorchRecorder, failed: Callable[[], Any]) -> None:
        self._recorder, self._failed = recorder, failed

    def listen(self) -> Callable[[], None]:
        """Be told of what is compiled and run from now on; returns what ends that."""
        removing: list[Callable[[], None]] = []
        forget = on_import(lambda: removing.append(self._install()), COMPILER)
        _LISTENING.append(self)

        def remove() -> None:
            _LISTENING[:] = [one for one in _LISTENING if one is not self]
            forget()
            for one in removing:
                one()

        return remove

    def _install(self) -> Callable[[], None]:
        compiler = sys.modules[COMPILER]
        if not hasattr(compiler, "compile_fx"):  # another version may call it otherwise
            return lambda: None
        return apply([wrap(compiler, "compile_fx", self._compile)])

    def _compile(self, original: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        graph = None
        if not kwargs.get("config_patches"):  # with which the compiler calls itself, without them
            try:
                graph = CompiledGraph(module)
            except Exception:
                self._failed()
        compiled = original(module, *args, **kwargs)
        is_new = type(compiled) is FunctionType and not hasattr(compiled, "is_told_to_gradproof")
        return _told(compiled, graph) if graph is not None and is_new else compiled

    def run(self, compiled: Any, graph: CompiledGraph, given: Sequence[Any], frame: FrameType) -> Any:
        recorder = self._recorder
        if not recorder.is_on or recorder.quiet or not _are_plain(given):
            return compiled(*given)
        beside = None
        try:
            beside = GraphRun(recorder, graph, given, frame)
        except Exception:
            self._failed()
        recorder.quiet += 1
        try:
            results = compiled(*given)
        finally:
            recorder.quiet -= 1
        if beside is not None:
            try:
                with recorder.silence(), torch.no_grad():
                    beside.join(list(tensors_in(results)))
            except Exception:
                self._failed()
        return results


def _told(compiled: Any, graph: CompiledGraph) -> Any:
    """The compiled code, with who listens told of every run of it."""

    def ran(*given: Any) -> Any:
        if not _LISTENING:
            return compiled(*given)
        return _LISTENING[-1].run(compiled, graph, given, sys._getframe(1))

    # What the compiler says about itself stays true, but that it is not to be compiled: that is said of this one anew.
    ran.__dict__.update(
        {key: one for key, one in vars(compiled).items() if not key.startswith("_torchdynamo")}
    )
    ran.__dict__.pop("__wrapped__", None)
    ran.is_told_to_gradproof = True  # type: ignore[attr-defined]
    return ran


def _are_plain(given: Sequence[Any]) -> bool:
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    are_known = all(isinstance(one, torch.Tensor | int | float | bool | torch.SymInt) for one in given)
    return are_known and have_numbers(tensors)


class GraphRun:
    """One run of the graph, op by op, beside that of the compiled code."""

    def __init__(
        self, recorder: TorchRecorder, graph: CompiledGraph, given: Sequence[Any], frame: FrameType
    ) -> None:
        self._recorder = recorder
        self._given = [one for one in given if isinstance(one, torch.Tensor)]
        self._versions = [one._version for one in self._given]
        self.call = CompiledCall(next(numbers), graph.name, places_of(frame), graph.refused)
        self._made: list[Any] = []
        if graph.may_write:
            with recorder.silence():
                for tensor in self._given:
                    recorder.memory.freeze(tensor)
        is_wanted = torch.is_grad_enabled() and any(one.requires_grad for one in self._given)
        if is_wanted and self.call.refused is None:
            self._run(graph, given)

    def _run(self, graph: CompiledGraph, given: Sequence[Any]) -> None:
        copies = [self._copy(one) if isinstance(one, torch.Tensor) else one for one in given]
        tensors = [one for one in copies if isinstance(one, torch.Tensor)]
        versions = [one._version for one in tensors]
        with self._nothing_left() as drawn:
            try:
                self._made = list(tensors_in(graph.module.forward(*copies)))
            except Exception as error:
                self.call.refused = FAILS.format(error=f"{type(error).__name__}: {error}".splitlines()[0])
        changed = [a for a, b, n in zip(self._given, tensors, versions) if b._version != n]
        if drawn:
            self.call.refused = RANDOM
        elif any(one.requires_grad for one in changed):
            self.call.refused = CHANGES
        self.call.given = {edge: b for a, b in zip(self._given, tensors) for edge in edge_of(a)}

    @contextmanager
    def _nothing_left(self) -> Iterator[list[str]]:
        """What runs in here leaves no trace; what is yielded says afterwards whether it has drawn random numbers."""
        recorder, drawn = self._recorder, list[str]()
        random, autocasts = torch.get_rng_state(), recorder.autocasts
        casting = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        recorder.call = self.call.id
        try:
            with torch.set_grad_enabled(True):
                yield drawn
        finally:
            recorder.call, recorder.autocasts = None, autocasts
            torch.set_autocast_enabled("cpu", casting[0])
            torch.set_autocast_dtype("cpu", casting[1])
            if not torch.equal(random, torch.get_rng_state()):
                drawn.append(RANDOM)
            torch.set_rng_state(random)

    def _copy(self, tensor: Any) -> Any:
        """The same numbers with a history of their own, which is known to be that of the program's tensor."""
        recorder = self._recorder
        with recorder.silence():
            with torch.no_grad():
                cell = recorder.memory.read(tensor)
            with torch.enable_grad():
                made = tensor.detach().requires_grad_(tensor.requires_grad).clone()
            with torch.no_grad():
                recorder.memory.alias(made, cell)
        return made

    def join(self, results: list[Any]) -> None:
        """After the compiled code has run: what it returned is what the ops lead to, in other roundings maybe."""
        recorder = self._recorder
        for tensor, version in zip(self._given, self._versions):
            if tensor._version != version:
                cover = recorder.memory.before_write(tensor)
                recorder.memory.written(tensor, tensor.requires_grad, cover)
        nodes = {node for one in results for node, _ in edge_of(one) if node.name() == NODE}
        for node in nodes:
            recorder.compiled[node] = self.call
        if self.call.refused is not None or len(self._made) != len(results) or not self._made:
            return
        outside = {id(one) for one in self._given}
        own = [one for one in results if id(one) not in outside and not one._is_view()]
        if len(nodes) > 1 or any(node not in nodes for one in own for node, _ in edge_of(one)):
            self.call.refused = VIEWS
            return
        for single, compiled in zip(self._made, results):
            if id(compiled) not in outside:
                self._join(single, compiled, nodes)

    def _join(self, single: Any, compiled: Any, nodes: set[Any]) -> None:
        recorder = self._recorder
        before = recorder.memory.read(single)
        made = recorder.memory.made(compiled, bool(compiled.requires_grad))
        recorder.call = self.call.id
        try:
            recorder.emit(RETURN_OP, (before,), made)
        finally:
            recorder.call = None
        for node, place in edge_of(compiled):
            if node in nodes:
                self.call.made[place] = single


def edge_of(tensor: Any) -> Iterator[Edge]:
    """Where the gradient of a tensor goes to; nothing where it has none."""
    if tensor.requires_grad:
        edge = torch.autograd.graph.get_gradient_edge(tensor)
        yield edge.node, edge.output_nr


def back(
    recorder: TorchRecorder, call: CompiledCall, node: Any, upstream: Any, results: Any, keeps_graph: bool
) -> None:
    """The rules of the ops, one by one, for what came to the compiled derivative; they lead to what it gave."""
    roots = [(one, upstream[place]) for place, one in call.made.items() if upstream[place] is not None]
    wanted = [
        (call.given[edge], result)
        for edge, result in zip(node.next_functions, results)
        if result is not None and edge in call.given
    ]
    if not roots or not wanted:
        return
    outputs, weights = zip(*roots)
    found = torch.autograd.Variable._execution_engine.run_backward(
        outputs, weights, keeps_graph, False, tuple(one for one, _ in wanted),
        allow_unreachable=True, accumulate_grad=False,
    )  # fmt: skip
    with recorder.silence(), torch.no_grad():
        read = recorder.memory.read
        for single, (_, compiled) in zip(found, wanted):
            if single is not None:
                recorder.emit(RETURN_OP, (read(single, True),), read(compiled, True))

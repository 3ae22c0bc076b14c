"""What a gradient call is about: which tensors the user waits for a gradient of, and by which names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gradproof.frontends.record.local_names import local_names
from gradproof.frontends.record.source import argument, call_at, names_of, span_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.grad_reads import grad_reads, reads_beside, reads_over
from gradproof.frontends.torch.record.memory import Cell, is_leaf
from gradproof.frontends.torch.record.names import Named, tensors_in_frames
from gradproof.frontends.torch.record.recorder import TorchEvent
from gradproof.frontends.torch.record.transforms import plain as unwrapped
from gradproof.ir.span import Span
from gradproof.ir.syntax import statement_around, text_of, tree_of

MOST_GUESSED = 5  # of tensors that a loss without a graph was computed from


@dataclass(frozen=True, eq=False)
class TorchAsked:
    """One tensor that a gradient is wanted for. A `bystander` is not collected in, though its `.grad` is read."""

    name: str
    tensor: Any
    bystander: bool = False
    used: Cell | None = None  # what it was when it was used, where it required no gradient yet


def asked_for(
    run: EngineRun,
    named: Mapping[int, Named],
    span: Span | None,
    made_of: Mapping[int, Cell],
    read: Any,
    events: Sequence[TorchEvent],
) -> list[TorchAsked]:
    """The sources of a call: those it was given, or the leaves it collects in and tensors whose `.grad` is read."""
    names = {key: one.name for key, one in named.items()}
    if run.inputs:
        return list(_given(run, named, span, read))
    leaves = [
        TorchAsked(names.get(id(leaf)) or _first_name(read(leaf), events, names) or f"leaf {k}", leaf)
        for k, leaf in enumerate(run.leaves.values(), 1)
        if id(leaf) in names or not run.is_inside  # what stands for an argument there is nobody's
    ]
    if is_plain(run) or (run.error is not None and not run.leaves.keys() & names.keys()):
        # Of a loss without a graph, or with none but itself, those wait for gradients that its number came from;
        # likewise where PyTorch has put leaves of its own into the graph, to raise when it comes to them.
        leaves = list(_wanted_of_plain(run, named, made_of, read)) or leaves
    return leaves + list(_bystanders(run, made_of, read))


def _first_name(leaf: Cell, events: Sequence[TorchEvent], names: Mapping[int, str]) -> str:
    """What a leaf was called where it was made, in a function that has returned; not a name that is another's now."""
    made = leaf if leaf.before is None else leaf.before
    event = next((one for one in events if any(cell.id == made.id for cell in one.outputs)), None)
    span = None if event is None or not event.places else span_of(event.places[0])
    statement = None if span is None else statement_around(tree_of(span.file), span.line, span.end_line)
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            name = text_of(target)
            return "" if name in names.values() else name
    return ""


def is_plain(run: EngineRun) -> bool:
    """Whether the target has no history: it was computed without one, or is a new leaf, and none that is read."""
    if not run.leaves:
        return run.error is not None
    reads = grad_reads(run.frame.f_code.co_filename)
    own = [name for name, one in tensors_in_frames(run.frame) if _is_target(run, one)]
    return all(_is_target(run, leaf) for leaf in run.leaves.values()) and not any(map(reads.has, own))


def unreached(run: EngineRun, named: Mapping[int, Named]) -> list[tuple[Named, bool]]:
    """Leaves that a call has given nothing to, and nothing before it: whether the program reads their gradients."""
    if run.inputs or run.error is not None or is_plain(run):
        return []
    reads = grad_reads(run.frame.f_code.co_filename)
    return [
        (one, reads.has(one.path) and not (reads.expects_none and reads.modules))
        for key, one in named.items()
        if key not in run.leaves and is_leaf(one.tensor) and one.tensor.grad is None
    ]


def _given(run: EngineRun, named: Mapping[int, Named], span: Span | None, read: Any) -> Iterator[TorchAsked]:
    """`x` in `torch.autograd.grad(loss, x)`."""
    names = {key: one.name for key, one in named.items()}
    call = None if span is None else call_at(span)
    is_grad = (
        call is not None and isinstance(call.func, ast.Attribute | ast.Name) and _last(call.func) == "grad"
    )
    node = argument(call, 1, "inputs") if is_grad else None
    spelled = [""] * len(run.inputs)
    if node is not None:
        whole: Any = list(run.inputs)
        spelled = names_of(node, whole[0] if len(whole) == 1 and not _is_list(node) else whole, "")
    for k, tensor in enumerate(run.inputs):
        said = spelled[k] if k < len(spelled) else ""
        plain = said if said.isidentifier() else ""
        yield TorchAsked(
            plain or names.get(id(tensor)) or said or _known(run, named, tensor, read) or f"input {k + 1}",
            tensor,
        )


def _known(run: EngineRun, named: Mapping[int, Named], tensor: Any, read: Any) -> str:
    """The name of the user's tensor that an argument of `torch.func` wraps, or one of `functional` is a view of."""
    own = read(unwrapped(tensor))
    known = [(name, read(unwrapped(one))) for name, one in tensors_in_frames(run.frame)]
    alike = [one for one in named.values() if one.tensor.shape == tensor.shape]
    known += [(one.name, read(unwrapped(one.tensor))) for one in alike]
    same = [name for name, cell in known if cell.id == own.id]
    views = [
        name
        for name, cell in known
        if own.memory is not None and (cell.memory, cell.shape) == (own.memory, own.shape)
    ]
    return next(iter(same or views), "")


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple)


def _bystanders(run: EngineRun, made_of: Mapping[int, Cell], read: Any) -> Iterator[TorchAsked]:
    """Tensors on the way that are no leaves, of which the program reads `.grad` all the same."""
    file = run.frame.f_code.co_filename
    wanted = grad_reads(file).names - reads_over(file, run.frame.f_lineno)
    for name, tensor in tensors_in_frames(run.frame):
        if name not in wanted or id(tensor) in run.leaves or not isinstance(tensor, torch.Tensor):
            continue
        if tensor.requires_grad and not is_leaf(tensor) and read(tensor).id in made_of:
            yield TorchAsked(name, tensor, bystander=not tensor.retains_grad)
    yield from _not_required(run, made_of, read)


def _not_required(run: EngineRun, made_of: Mapping[int, Cell], read: Any) -> Iterator[TorchAsked]:
    """Tensors that a program made and used without `requires_grad`, and reads `.grad` of; parameters are frozen."""
    file = run.frame.f_code.co_filename
    if run.error is not None or grad_reads(file).expects_none:
        return
    for name in sorted(reads_beside(file, run.frame.f_lineno)):
        tensor = local_names(run.frame).get(name)
        if not isinstance(tensor, torch.Tensor) or isinstance(tensor, torch.nn.Parameter):
            continue
        if not tensor.requires_grad and tensor.grad is None and read(tensor).id in made_of:
            yield TorchAsked(name, tensor)


def _wanted_of_plain(
    run: EngineRun, named: Mapping[int, Named], made_of: Mapping[int, Cell], read: Any
) -> Iterator[TorchAsked]:
    """A loss without a graph: the leaves it was computed from, or else what was given to the program as it is."""
    known = [(one.name, one.tensor, read(one.tensor)) for one in named.values()]
    near = [(name, one, cell) for name, one, cell in known if cell.id in made_of and not _is_target(run, one)]
    leaves = [TorchAsked(name, one) for name, one, _ in near if is_leaf(one)]
    leaves += [
        TorchAsked(name, one, used=before)
        for name, one, cell in known
        if cell.id not in made_of and is_leaf(one) and (before := _before(cell, made_of)) is not None
    ]
    if leaves or run.error is None:
        yield from leaves
        return
    given = [(name, one) for name, one, cell in near if _is_given(cell)]
    real = [TorchAsked(name, one) for name, one in given if _is_real(one)]
    yield from (real or [TorchAsked(name, one) for name, one in given])[:MOST_GUESSED]


def _before(cell: Cell, made_of: Mapping[int, Cell]) -> Cell | None:
    """The same memory as it went into the target, before it was told to require a gradient."""
    same = (one for one in made_of.values() if one.memory == cell.memory and one.shape == cell.shape)
    return None if cell.memory is None else next((one for one in same if not one.requires_grad), None)


def _is_target(run: EngineRun, tensor: Any) -> bool:
    return any(tensor is output for output in run.outputs)


def _is_given(cell: Cell) -> bool:
    return cell.origin is None


def _is_real(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and bool(tensor.is_floating_point() or tensor.is_complex())


def receiver(span: Span | None) -> str | None:
    """`loss` in `loss.backward()`, or in `grad(loss, x)`."""
    call = None if span is None else call_at(span)
    if call is None:
        return None
    if (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "backward"
        and not _is_module(call.func.value)
    ):
        return ast.unparse(call.func.value)
    of = differentiated(call)
    if of:
        return of
    node = argument(call, 0, "outputs") if _last(call.func) == "grad" else None
    return None if node is None or _is_list(node) else ast.unparse(node)


_OF_FUNCTIONS = (
    "grad", "value_and_grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "jacobian",
    "hvp", "vhp", "gradcheck", "gradgradcheck",
)  # fmt: skip


def differentiated(call: ast.Call | None) -> str:
    """`f` in `grad(f)(x)`, `jvp(f, (x,), (v,))` and `hessian(f, x)`; empty where it is not plain."""
    if call is None:
        return ""
    inner = call.func if isinstance(call.func, ast.Call) else call
    is_known = _last(inner.func) in _OF_FUNCTIONS and bool(inner.args)
    # `autograd.grad(loss, x)` is called with tensors, `grad(f)(x)` gives a function that is called.
    if not is_known or (inner is call and _last(inner.func) == "grad"):
        return ""
    of = inner.args[0]
    return ast.unparse(of) if isinstance(of, ast.Name | ast.Attribute) else ast.unparse(inner.func)


def _is_module(node: ast.expr) -> bool:
    """`torch.autograd` in `torch.autograd.backward(loss)`."""
    return ast.unparse(node) in ("torch.autograd", "autograd")

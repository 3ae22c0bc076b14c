"""Runs a program in each of PyTorch's execution modes: eager, compiled, under autocast, with other settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

from gradproof.frontends.emitting import NoFunction
from gradproof.frontends.torch.record.arrays import array_of, tensor_of
from gradproof.frontends.torch.record.observation import unobserved
from gradproof.frontends.torch.replay import value_in
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed
from gradproof.modes.model import LackingMode, Mode, NotRun

FRAMEWORK = "torch"
Way = Mapping[str, Any]
Literals = Mapping[int, tuple[Any, Any]]  # a number, and the dtype of its tensor


def _mode(name: str, way: Way, **facts: Any) -> Mode:
    rethreaded = None if "threads" in way else _mode(name, {**way, "threads": None}, **facts)
    return Mode(
        FRAMEWORK, name, partial(_values, way), partial(_gradient, way), rethreaded=rethreaded, **facts
    )


def _threads(way: Way, usual: int) -> int:
    """How many a mode runs with: None is any other number than usual."""
    chosen = way.get("threads", usual)
    return chosen if chosen is not None else 1 if usual > 1 else 2


def _values(way: Way, feed: Feed, outputs: Sequence[int]) -> list[Array]:
    literals = _literals(feed)

    def compute(*given: Any) -> list[Any]:
        values = _computed(feed, literals, given)
        return [values[id] for id in outputs]

    with _running(feed, way) as given:
        run = _as(way, compute, feed, tuple(outputs), given)
        return [array_of(found.detach()) for found in run(*given)]


def _gradient(way: Way, feed: Feed, target: int, wrt: Sequence[int]) -> tuple[Array, list[Array | None]]:
    import torch

    literals = _literals(feed)

    def compute(*given: Any) -> Any:
        return _computed(feed, literals, given)[target]

    with _running(feed, way) as given:
        run = _as(way, compute, feed, target, given)
        sources = [given[list(feed.given).index(id)].requires_grad_() for id in wrt]
        value = run(*given)
        found = torch.autograd.grad(value, sources, allow_unused=True)
        return array_of(value.detach()), [None if one is None else array_of(one) for one in found]


def _literals(feed: Feed) -> Literals:
    """Numbers as Python has them: a compiler folds these, and cannot look into arrays of NumPy's 16-bit kinds."""
    return {id: (value.item(), tensor_of(value).dtype) for id, value in feed.literals.items()}


def _computed(feed: Feed, literals: Literals, given: Sequence[Any]) -> dict[int, Any]:
    import torch

    values: dict[int, Any] = dict(zip(feed.given, given))
    values |= {id: torch.full((), number, dtype=dtype) for id, (number, dtype) in literals.items()}
    for node in feed.computed:
        values[node.id] = value_in(torch, node, values, True)
    return values


@contextmanager
def _running(feed: Feed, way: Way) -> Iterator[list[Any]]:
    """The arguments as tensors, under the settings of the mode; every setting is put back."""
    import torch

    device = way.get("device", "cpu")
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    policy = way.get("autocast")
    casting = torch.autocast(
        device.partition(":")[0], getattr(torch, policy or "bfloat16"), enabled=policy is not None
    )
    try:
        torch.set_num_threads(_threads(way, threads))
        torch.use_deterministic_algorithms(way.get("strict", strict))
        with unobserved(), torch.enable_grad(), casting, _compiling(way):
            yield [tensor_of(value).to(device) for value in feed.given.values()]
    except NoFunction as error:
        raise NotRun(f"PyTorch has no function for `{error}` here") from error
    except Exception as error:
        raise NotRun(f"PyTorch refuses the program: {_first_line(error)}") from error
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)


def _compiling(way: Way) -> AbstractContextManager[Any]:
    """Inductor starts processes to compile in, each of which imports PyTorch: for one small program that is waste."""
    if way.get("backend") != "inductor":
        return nullcontext()
    from torch._inductor import config

    patched: AbstractContextManager[Any] = config.patch(compile_threads=1)
    return patched


def _as(
    way: Way, function: Callable[..., Any], feed: Feed, asked: Any, given: list[Any]
) -> Callable[..., Any]:
    """The function as the mode runs it: what is compiled is the graph of its ops, free of our own code."""
    if "backend" not in way:
        return function
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    def compiled() -> Callable[..., Any]:
        graph = make_fx(function)(*given)
        made: Callable[..., Any] = torch.compile(graph, backend=way["backend"], fullgraph=True, dynamic=False)
        return made

    return feed.once((FRAMEWORK, way["backend"], torch.get_num_threads(), asked), compiled)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _autocast(dtype: str) -> Mode:
    title = f"under autocast to {dtype}"
    return _mode(f"autocast to {dtype}", {"autocast": dtype}, title=title, policy=dtype, precisions=())


MODES = (
    _mode("eager", {}, title="eager", runs_as="eager", is_single=True),
    _mode("deterministic algorithms", {"strict": True}, title="with deterministic algorithms"),
    _mode("one thread", {"threads": 1}, title="with one thread"),
    _mode("four threads", {"threads": 4}, title="with four threads"),
    _autocast("bfloat16"),
    _autocast("float16"),
    _mode("compiled, aot_eager", {"backend": "aot_eager"}, title="compiled by aot_eager"),
    _mode(
        "compiled, inductor",
        {"backend": "inductor"},
        title="compiled by inductor",
        runs_as="parts",
        is_slow=True,
    ),
)


def offered(is_here: bool = False) -> tuple[list[Mode], list[LackingMode]]:
    """The modes that PyTorch has on this machine; imports it. With `is_here` only those of this process."""
    del is_here  # all of them are
    import torch

    kind = torch.accelerator.current_accelerator()
    others = [] if kind is None else [f"{kind.type}:{k}" for k in range(torch.accelerator.device_count())]
    there = [_mode(f"eager on {one}", {"device": one}, title=f"on {one}") for one in others]
    lacking = [] if others else [LackingMode(FRAMEWORK, "an accelerator", "there is none on this machine")]
    return [*MODES, *there], lacking

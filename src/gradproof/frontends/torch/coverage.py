"""Which of PyTorch's ops have an exact meaning here, counted over its own op database.

Its entries are run, forward and backward, at some of their samples. What counts is every functional op that runs on
the way and returns numbers; it has a meaning if that was found for the very numbers it had, and gives what it returned.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gradproof.frontends.assemble.lowering import Lowering
from gradproof.frontends.torch.library import database
from gradproof.frontends.torch.lower import LOWERINGS, TABLE
from gradproof.frontends.torch.lower._decomposed import DecomposedOp, _value
from gradproof.frontends.torch.record.arrays import array_of
from gradproof.frontends.torch.record.mode import referred, tensors_in
from gradproof.ir.program import Builder
from gradproof.ir.types import Array

SAMPLES = 4  # of an entry, spread over all of them
MOST_NUMBERS = 800  # in a sample
_NOTHING = "without a lowering"


def coverage() -> tuple[list[str], list[str], dict[str, str], list[str], dict[str, str], str]:
    """Covered ops, opaque ones, none out of scope, covered ones beyond the database, variants that are not covered."""
    census = _Census()
    entries = [entry for entry in database() if entry.supports_autograd]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in entries:
            for sample in _samples(entry):
                _run(entry, sample, census)
    covered = sorted(census.lowered)
    opaque = sorted(set(census.refused) - census.lowered)
    partly = {name: census.refused[name] for name in covered if name in census.refused}
    others = sorted(name for name in TABLE if "." not in name and name not in covered)
    counted = (
        f"functional ops that {len(entries)} entries of its op database run on numbers, forward and backward"
    )
    return covered, opaque, {}, others, partly, counted


def _samples(entry: Any) -> list[Any]:
    dtype = torch.float64 if torch.float64 in entry.supported_dtypes("cpu") else torch.float32
    torch.manual_seed(0)
    np.random.seed(0)  # the database draws from it
    try:
        drawn = list(entry.sample_inputs("cpu", dtype, requires_grad=True))
    except (RuntimeError, ValueError, TypeError):  # it is not made for this machine
        return []
    small = [one for one in drawn if sum(t.numel() for t in _tensors(one)) <= MOST_NUMBERS]
    return small[:: max(1, len(small) // SAMPLES)][: SAMPLES + 1]


def _tensors(sample: Any) -> Iterator[Any]:
    return tensors_in([sample.input, list(sample.args), dict(sample.kwargs)])


def _run(entry: Any, sample: Any, census: _Census) -> None:
    try:
        with census:
            results = [
                t for t in tensors_in(entry(sample.input, *sample.args, **sample.kwargs)) if t.requires_grad
            ]
            if results:
                torch.autograd.backward(results, [torch.ones_like(one) for one in results])
    except Exception:  # a sample that PyTorch itself cannot do here; what ran before it was counted
        return


class _Census(TorchDispatchMode):  # type: ignore[misc]
    """Looks for the meaning of every op that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.lowered: set[str] = set()
        self.refused: dict[str, str] = {}  # op -> why, of its first call without a meaning

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.partition("::")[2]
        if func.namespace not in ("aten", "prims") or (name.endswith("_") and not name.endswith("__")):
            return func(*args, **kwargs)
        tensors: list[Any] = []
        attrs: dict[str, Any] = {"args": referred(args, tensors), "kwargs": referred(kwargs, tensors)}
        if "as_strided" in name and tensors:
            attrs["layouts"] = {0: (tensors[0].storage_offset(), tensors[0].stride())}
        given = [array_of(tensor) for tensor in tensors]  # before the op, which may write into them
        result = func(*args, **kwargs)
        made = [array_of(tensor) for tensor in tensors_in(result)]
        written = (
            [] if name != "rrelu_with_noise" else [array_of(tensors[1])]
        )  # which its schema has as a result
        if any(array.dtype.kind not in "biu" for array in made):
            reason = _refusal(str(func), attrs, given, made + written)
            if reason is None:
                self.lowered.add(name)
            else:
                self.refused.setdefault(name, reason)
        return result


def _refusal(op: str, attrs: dict[str, Any], given: list[Array], made: list[Array]) -> str | None:
    """Why a call of an op has no meaning; None where it has."""
    lowering = LOWERINGS.get(op)
    if lowering is None:
        return _NOTHING
    m = Lowering(Builder())
    event = DecomposedOp(op, attrs, tuple(map(_value, made)))
    try:
        with np.errstate(all="ignore"):
            found = lowering(m, event, *(m.input(array) for array in given))
        for one, array in zip(found if isinstance(found, tuple) else (found,), made):
            if one is not None and tuple(one.shape) != array.shape:
                return "a result of another shape"
    except Exception as error:  # whatever it says is why the op stays opaque there
        return str(error)
    return None

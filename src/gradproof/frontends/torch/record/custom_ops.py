"""Ops that a program has defined by `torch.library.custom_op`: their kernels are Python, and are heard as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

from torch._library import custom_ops
from torch._library.custom_ops import CustomOpDef
from torch.utils._python_dispatch import _pop_mode, _push_mode

_GENERATED = "GeneratedBackwardFor_{}_{}_{}"  # how PyTorch calls the function that it makes of an op


def definition_of(func: Any) -> CustomOpDef | None:
    """The user's definition of an op that changes none of its arguments; None for other ops."""
    found = custom_ops.OPDEFS.get(getattr(func, "_name", "").rpartition(".")[0] or func._name)
    return None if found is None or func._schema.is_mutable else found


def written_as(cls: Any) -> tuple[str, Any]:
    """The name and the functions of an `autograd.Function` as the user wrote them."""
    if cls.__name__.startswith("GeneratedBackwardFor_"):
        for one in list(custom_ops.OPDEFS.values()):
            op = one._opoverload
            if cls.__name__ == _GENERATED.format(op._namespace, op._opname, op._overloadname):
                return op._opname, SimpleNamespace(forward=one._init_fn, backward=one._backward_fn)
    return cls.__name__, cls


@contextmanager
def heard_inside(definition: CustomOpDef, mode: Any) -> Iterator[None]:
    """While the op runs, the mode hears what its kernel does; dispatching has switched it off."""
    kernels = dict(definition._backend_fns)
    definition._backend_fns.update({key: partial(_run, mode, kernel) for key, kernel in kernels.items()})
    try:
        yield
    finally:
        definition._backend_fns.update(kernels)


def _run(mode: Any, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    _push_mode(mode)
    try:
        return kernel(*args, **kwargs)
    finally:
        _pop_mode()

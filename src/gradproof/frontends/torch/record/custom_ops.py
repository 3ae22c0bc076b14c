"""Ops that a program has defined by `torch.library.custom_op`: their kernels are Python, and are heard as well."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from linecache import getline
from types import SimpleNamespace
from typing import Any

from torch._library import custom_ops
from torch._library.custom_ops import CustomOpDef
from torch.autograd import Function
from torch.utils._python_dispatch import _pop_mode, _push_mode

from gradproof.frontends.record.source import Place, span_of

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


def is_traced(cls: Any) -> bool:
    """Whether it is a function of the user's as a compiler's graph has it."""
    return bool(cls.__qualname__.startswith("AutogradFunctionApply."))


def traced_as(places: Sequence[Place]) -> tuple[str, Any]:
    """The name and the class of such a function, by what is called at the line that it was traced from."""
    for span in map(span_of, places[:1]):
        called = re.match(r"[\w.]+(?=\()", getline(span.file, span.line)[span.column or 0 :].strip())
        for module in list(sys.modules.values()) if called else ():
            if called and getattr(module, "__file__", None) == span.file:
                cls = getattr(_found(module, called[0].split(".")), "__self__", None)
                if isinstance(cls, type) and issubclass(cls, Function):
                    return cls.__name__, cls
    return "autograd.Function", SimpleNamespace(forward=None, backward=None)


def _found(one: Any, path: Sequence[str]) -> Any:
    for name in path:
        one = getattr(one, name, None)
    return one


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

"""Forwards of `autograd.Function` that compute with NumPy: each is one op, which is its code run again."""

from __future__ import annotations

from typing import Any

from torch.autograd.function import Function

from gradproof.frontends.after.effects import effect_of
from gradproof.frontends.after.harmless import is_plain
from gradproof.frontends.torch.record.recorder import Ref

FUNCTION = "function"
"""The attribute of such an op that holds the class it is the forward of."""


class _Context:
    """What a forward is given for `ctx` when it runs again: whatever it does with that is not felt."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def forward_again(function: Any, *args: Any) -> Any:
    return function.forward(*args) if _has_context_apart(function) else function.forward(_Context(), *args)


def op_of(function: Any) -> str:
    return f"{function.__name__}.forward"


def may_run_again(function: Any, args: Any) -> bool:
    """Whether a forward can be shown to have no effects, and is given nothing but tensors and plain numbers."""
    is_plainly_called = all(isinstance(one, Ref) or is_plain(one) for one in args)
    return is_plainly_called and _has_no_effects(function, "forward", _has_context_apart(function))


def may_be_differentiated_again(function: Any) -> bool:
    """Whether the same can be shown for all of its methods that a gradient runs through."""
    apart = not _has_context_apart(function) or _has_no_effects(function, "setup_context", False)
    return apart and _has_no_effects(function, "backward", False)


def _has_no_effects(function: Any, method: str, is_without_context: bool) -> bool:
    code = getattr(getattr(function, method, None), "__code__", None)
    own = () if is_without_context or code is None else code.co_varnames[:1]
    return code is not None and effect_of(getattr(function, method), own) is None


def _has_context_apart(function: Any) -> bool:
    return getattr(function, "setup_context", None) is not Function.setup_context

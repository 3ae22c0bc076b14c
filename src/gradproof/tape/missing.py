"""Why there is no gradient: the reason, the user's line, and what to do. Never a bare None."""

from __future__ import annotations

from typing import Any, NoReturn

from gradproof.errors import MissingGradient
from gradproof.ir.span import Span

REASONS = {
    "not-watched": "a tape records only what it watches: Variables, and what was passed to `tape.watch`",
    "outside-tape": "a tape records only what is computed inside its `with` block, while it is not stopped",
    "integer-dtype": "integers and booleans cannot be moved a little, so there is no derivative by them",
    "discrete-op": "the result changes in steps: its derivative is zero wherever it has one",
    "left-framework": "numbers that become plain Python or NumPy values are constants to every tape",
    "stop-gradient": "`stop_gradient` makes its argument a constant, which is what it is for",
    "reassigned-variable": "the name now stands for the result of a computation, no longer for the Variable",
    "no-gradient-registered": "the function has no derivative here, so the gradient cannot pass through it",
    "not-connected": "the target does not depend on the source: no op leads from one to the other",
}


class Missing:
    """Takes the place of a gradient that does not exist: false, with its reason, and no number."""

    __slots__ = ("message", "name", "reason", "remedy", "span")
    __array_priority__ = 2000
    __hash__ = object.__hash__

    def __init__(
        self, reason: str, span: Span | None, message: str, remedy: str = "", name: str | None = None
    ) -> None:
        self.reason, self.span, self.message, self.remedy, self.name = reason, span, message, remedy, name

    @property
    def line(self) -> int | None:
        return None if self.span is None else self.span.line

    def explain(self) -> str:
        """The reason in words, with the line and what would mend it."""
        lines = [f"missing[{self.reason}]: {self.message}"]
        if self.span is not None:
            lines.append(f" --> {self.span}")
        lines.append(f"  why: {REASONS[self.reason]}")
        if self.remedy:
            lines.append(f"  fix: {self.remedy}")
        return "\n".join(lines)

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Missing({self.reason}: {self.message})"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise MissingGradient(self.explain())

    __array_ufunc__ = __array_function__ = __array__ = _refuse
    __float__ = __int__ = __complex__ = __index__ = __len__ = __iter__ = __getitem__ = _refuse
    __neg__ = __pos__ = __abs__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = (
        _refuse
    )
    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __getattr__(self, name: str) -> Any:
        # An AttributeError, so that `hasattr` keeps working; its text says what was really wrong.
        raise AttributeError(f"there is no gradient, hence no `{name}` of it\n{self.explain()}")

"""What the marker `gradproof` of a test asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import pytest

from gradproof.audit.settings import unknown_kind
from gradproof.diagnosis.report import FailOn, GradientReport
from gradproof.diagnosis.words import comma_list
from gradproof.errors import did_you_mean
from gradproof.options import TOLERANCES, Options

NAME = "gradproof"
LEVELS: tuple[str, ...] = get_args(FailOn)


@dataclass(frozen=True)
class Wishes:
    """The arguments of the marker, the nearest first: that of a test, its class, its module."""

    accept: frozenset[str] | bool = False  # causes and verdicts, or everything
    reason: str = ""
    tolerance: float | Mapping[str, float] | None = None  # one for all dtypes, or by dtype
    fail_on: FailOn | None = None
    off: bool = False

    def options(self, options: Options) -> Options:
        if self.tolerance is None:
            return options
        own = (
            self.tolerance
            if isinstance(self.tolerance, Mapping)
            else dict.fromkeys(TOLERANCES, self.tolerance)
        )
        return replace(options, tolerances={**options.tolerances, **own})

    def accepts(self, gradient: GradientReport, least: int) -> bool:
        """All that is wrong with it, from rank `least` on, is accepted by the name of its cause or of the verdict."""
        if isinstance(self.accept, bool):
            return self.accept
        kinds = {diagnostic.kind for diagnostic in gradient.diagnostics if diagnostic.rank >= least}
        return str(gradient.verdict) in self.accept or (bool(kinds) and kinds <= self.accept)


def names_of(gradient: GradientReport) -> set[str]:
    """By what a gradient can be accepted: its verdict and the causes of level warning or error."""
    return {str(gradient.verdict), *(d.kind for d in gradient.diagnostics if d.rank > 0)}


def wishes_of(item: pytest.Item) -> Wishes:
    """The marker of a test; what is not understood is an error of use, not silently without effect."""
    given: dict[str, Any] = {}
    for marker in item.iter_markers(NAME):
        if marker.args:
            raise _misuse(item, "takes keywords only, as in @pytest.mark.gradproof(accept=['kink'])")
        given = {**marker.kwargs, **given}
    known = [field.name for field in fields(Wishes)]
    for name in given:
        if name not in known:
            raise _misuse(
                item, f"has no argument `{name}`; there are {comma_list(known)}{did_you_mean(name, known)}"
            )
    return Wishes(**{name: _CHECKED.get(name, _as_it_is)(item, value) for name, value in given.items()})


def _misuse(item: pytest.Item, text: str) -> pytest.UsageError:
    return pytest.UsageError(f"{item.nodeid}: the marker `{NAME}` {text}")


def _as_it_is(item: pytest.Item, value: Any) -> Any:
    del item
    return value


def _accept(item: pytest.Item, value: Any) -> frozenset[str] | bool:
    if isinstance(value, bool) or value is None:
        return bool(value)
    names = frozenset([value] if isinstance(value, str) else value)
    unknown = unknown_kind(names)
    if unknown:
        raise _misuse(item, f"accepts {unknown}")
    return names


def _tolerance(item: pytest.Item, value: Any) -> float | Mapping[str, float] | None:
    numbers = value if isinstance(value, Mapping) else {"float64": value}
    if value is not None and not all(_is_tolerance(dtype, number) for dtype, number in numbers.items()):
        raise _misuse(item, f"takes a positive tolerance, or one for each dtype in a dict; it was {value!r}")
    return value  # type: ignore[no-any-return]


def _is_tolerance(dtype: Any, number: Any) -> bool:
    return dtype in TOLERANCES and isinstance(number, int | float) and number > 0


def _fail_on(item: pytest.Item, value: Any) -> Any:
    if value is not None and value not in LEVELS:
        raise _misuse(item, f"takes fail_on={comma_list(LEVELS, 'or')}, not {value!r}")
    return value


_CHECKED = {"accept": _accept, "tolerance": _tolerance, "fail_on": _fail_on}


def unmet(wishes: Wishes, gradients: Collection[GradientReport]) -> list[str]:
    """What is accepted and did not occur: the marker says more than the test needs."""
    if isinstance(wishes.accept, bool):
        wrong = any(gradient.intended or gradient.level != "note" for gradient in gradients)
        return ["what is wrong with its gradients"] if wishes.accept and not wrong else []
    met = {name for gradient in gradients for name in names_of(gradient)}
    return sorted(f"`{name}`" for name in wishes.accept - met)

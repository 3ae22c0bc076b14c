"""Where an op of a jaxpr stands: the user's lines, the call and the loop that it is a part of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradproof.frontends.jax.lower.library import Known, region_of
from gradproof.frontends.record.model import Phase
from gradproof.frontends.record.source import Place, is_users, spans_of
from gradproof.ir.span import Span

_BOUNDARY = frozenset({"trace_to_jaxpr", "trace_to_jaxpr_dynamic", "_trace_to_jaxpr"})
_AT = re.compile(r"^(?P<name>.*) at (?P<file>.+):(?P<line>\d+)$")


@dataclass(frozen=True)
class Where:
    """What the ops of a body inherit from the call of it."""

    stack: tuple[Span, ...]
    phase: Phase
    scope: int | None = None
    pullback: int | None = None
    within: tuple[int, ...] = ()
    loop: tuple[int, ...] = ()
    is_transposed: bool = False
    region: Known | None = None
    call: int | None = None  # the compiled function whose own results are to be met


def here_of(equation: Any, where: Where) -> Where:
    """What is known of an equation, and of the body that it stands in."""
    information = equation.source_info
    return replace(
        where,
        stack=(*own_stack(information.traceback), *where.stack),
        is_transposed=where.is_transposed or "transpose" in str(information.name_stack),
        region=where.region or region_of(_codes(information.traceback)),
    )


def own_stack(traceback: Any) -> tuple[Span, ...]:
    """The user's lines inside the body that an equation stands in.

    What is outside of it is the line that had the body traced first, which need not be the one that runs it now.
    """
    return spans_of(_own_places(traceback))


def _codes(traceback: Any) -> Sequence[Any]:
    return () if traceback is None else traceback.raw_frames()[0]


def _own_places(traceback: Any) -> Iterator[Place]:
    codes, offsets = ([], []) if traceback is None else traceback.raw_frames()
    for code, offset in zip(codes, offsets):
        if code.co_name in _BOUNDARY:
            return
        if is_users(code.co_filename):
            yield code, offset


def written(information: Any) -> Span | None:
    """Where JAX says that a function is written."""
    found = None if information is None else _AT.match(str(information.func_src_info))
    return None if found is None else Span(found["file"], int(found["line"]), function=found["name"])

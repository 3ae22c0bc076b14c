"""The one mode of the tape: NumPy's own arithmetic, op by op, rounded after every op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.fixes.verify import rounded_gradient
from gradproof.frontends.apart import with_one_thread
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed
from gradproof.modes.model import LackingMode, Mode, NotRun


def _values(feed: Feed, outputs: Sequence[int]) -> list[Array]:
    try:
        found = run(Ieee(), feed.program.with_outputs(outputs)).values
    except (GradproofError, ValueError, TypeError, FloatingPointError) as error:
        raise NotRun(f"NumPy cannot run the program: {error}") from error
    return [np.asarray(found[id]) for id in outputs]


def _gradient(feed: Feed, target: int, wrt: Sequence[int]) -> tuple[Array, list[Array | None]]:
    (value,) = _values(feed, [target])
    program = feed.program.with_outputs([target])
    return value, [rounded_gradient(program, id) for id in wrt]


MODES = (Mode("numpy", "tape", _values, _gradient, runs_as="eager", is_single=True, title="op by op"),)


def offered(is_here: bool = False) -> tuple[list[Mode], list[LackingMode]]:
    return list(MODES if is_here else map(with_one_thread, MODES)), []

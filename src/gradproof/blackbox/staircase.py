"""Functions that go up and down in steps, and what that tells of the grid on which their values lie."""

from collections.abc import Sequence

import numpy as np

from gradproof.blackbox.grid import Grid, grid_of
from gradproof.blackbox.ladder import Ladder, LadderLine

# Of a step: there no round number comes out by accident, neither binary nor decimal.
ODD_SHARE = 2.0**-0.3
COARSER = 4.0  # units in the last place: a grid that is no wider is the dtype's own
BEYOND = (2.0**0.25, 2.0**0.52)  # times the first step that changes something


def repeats(pairs: Ladder) -> bool:
    """Whether different steps to one side lead to the very same value."""
    return len(np.unique(pairs.plus)) < len(pairs.plus) or len(np.unique(pairs.minus)) < len(pairs.minus)


def ends_in_a_step(line: LadderLine, step: float) -> bool:
    """Whether beyond a flat place the value stays on another level, as that of a rounded function does."""
    centre = line.value(0.0)
    for side in (1, -1):
        values = [line.value(line.snapped(side * share * step)) for share in (1.0, *BEYOND)]
        levels = [value for value in values if value != centre and np.isfinite(value)]
        if len(set(levels)) < len(levels):
            return True
    return False


def learn_grid(line: LadderLine, pairs: Ladder) -> bool:
    """Whether beyond the flat steps all values lie on one grid, at steps that are no powers of two as well."""
    if line.calls.whole:
        return False
    values = [pairs.centre, *pairs.plus, *pairs.minus]
    if _grid_beyond_rounding(line, values) is None:
        return False
    largest = float(pairs.steps[-1])
    values += [line.value(line.snapped(side * ODD_SHARE * largest)) for side in (-1, 1)]
    line.grid = _grid_beyond_rounding(line, values)
    return line.grid is not None


def _grid_beyond_rounding(line: LadderLine, values: Sequence[float]) -> Grid | None:
    """The grid of the values where it is coarser than what is known of their dtype."""
    seen = np.array(values)
    grid = grid_of(seen)
    if grid is None:
        return None
    largest = np.array([np.nanmax(np.where(np.isfinite(seen), abs(seen), 0.0))])
    return grid if grid.at(largest)[0] > COARSER * line.calls.eps * largest[0] else None


def learn_grid_of_all(line: LadderLine) -> bool:
    """Whether all values asked for so far lie on one grid; not all of their steps may be powers of two."""
    if not line.calls.whole:
        line.grid = _grid_of_all(line)
    return line.grid is not None


def learn_grid_again(line: LadderLine) -> bool:
    """The grid as all values asked for so far show it, if they lie on one at all."""
    if line.grid is None:
        return False
    seen = _grid_of_all(line)
    if seen is None or seen == line.grid:
        return False
    line.grid = seen
    return True


def _grid_of_all(line: LadderLine) -> Grid | None:
    return _grid_beyond_rounding(line, [line.value(step) for step in line.known])

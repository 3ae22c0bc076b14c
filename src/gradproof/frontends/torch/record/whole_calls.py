"""Functions of PyTorch that run the engine several times: one line of the user's, one execution."""

from __future__ import annotations

import importlib
import math
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from torch.autograd import functional

from gradproof.frontends.assemble.captures import only
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site, Sites
from gradproof.frontends.torch.record.arrays import array_of
from gradproof.ir import types
from gradproof.ir.surroundings import Differences

MOST_RUNS = 4  # of one execution that are looked at: the rows of a Jacobian are all of one kind
MOST_OF_CHECKS = 2  # those try odd things afterwards, such as no gradient at all
_FUNCTIONAL = ("vjp", "jvp", "vhp", "hvp", "jacobian", "hessian")
_CHECKS = ("gradcheck", "gradgradcheck")


class WholeCalls:
    """Which executions of such a function are under way, and how many runs of the engine each has had."""

    def __init__(self) -> None:
        self._depth = 0
        self._most = MOST_RUNS
        self._measuring = 0
        self._differences: tuple[float, Any] | None = None  # their step, and what they gave
        self._runs: dict[Hashable, tuple[Site, bool, int]] = {}

    def patches(self) -> list[Patch]:
        checks = importlib.import_module("torch.autograd.gradcheck")
        autograd = importlib.import_module("torch.autograd")
        owners = [(functional, name) for name in _FUNCTIONAL]
        owners += [(owner, name) for owner in (checks, autograd) for name in _CHECKS]
        return [
            *(wrap(owner, name, self._called) for owner, name in owners),
            wrap(checks, "_get_numerical_jacobian", self._measured),
        ]

    def _measured(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """The differences of `gradcheck`, which are taken before the gradient is asked for."""
        self._measuring += 1
        try:
            found = original(*args, **kwargs)
        finally:
            self._measuring -= 1
        self._differences = (float(kwargs.get("eps", args[4] if len(args) > 4 else 1e-3)), found)
        return found

    def beside(self, call: GradientCall) -> list[GradientCall]:
        """The call with what the program's own check has got for the same numbers; one for each source of several."""
        found = [self._measured_for(call, k) for k in range(len(call.sources))]
        if not any(found) or len(call.observed) != len(call.sources):
            return [call]
        return [replace(only(call, [k]), differences=one) for k, one in enumerate(found)]

    def _measured_for(self, call: GradientCall, k: int) -> Differences | None:
        if self._differences is None or len(call.targets) != 1:
            return None
        (step, found), source = self._differences, call.sources[k].value
        sizes = tuple(math.prod(one.shape or ()) for one in (source, call.targets[0].value))
        fitting = [one for one in (found[k] if k < len(found) else ()) if tuple(one.shape) == sizes]
        weight = _weight_of(call, sizes[1])
        if len(found) != len(call.sources) or len(fitting) != 1 or weight is None:
            return None
        if not types.is_real(source.dtype):
            return None
        # A check measures the whole Jacobian and asks for the gradient of one entry of the target after the other.
        values = (array_of(fitting[0]) @ weight).reshape(source.shape or ())
        return Differences(step, "eps", values)

    @property
    def is_wanted(self) -> bool:
        """Whether the execution under way is one that is looked at: the rest of it belongs to it."""
        return any(wanted for _, wanted, _ in self._runs.values())

    def _called(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._depth:
            self._most = MOST_OF_CHECKS if original.__name__ in _CHECKS else MOST_RUNS
        self._depth += 1
        try:
            return original(*args, **kwargs)
        finally:
            self._depth -= 1
            if not self._depth:
                self._runs.clear()
                self._differences = None

    def begin(self, sites: Sites, key: Hashable) -> tuple[Site, bool]:
        """Count one more execution, unless this run belongs to one that is counted already."""
        if not self._depth:
            return sites.begin(key)
        if key not in self._runs:
            self._runs[key] = (*sites.begin(key), 0)
        site, wanted, n_runs = self._runs[key]
        if self._measuring:  # a difference of gradients: what is asked for at points beside is no result
            return site, False
        self._runs[key] = site, wanted, n_runs + 1
        return site, wanted and n_runs < self._most


def _weight_of(call: GradientCall, size: int) -> Any | None:
    """What the entries of the target are multiplied by; None where that is not known."""
    given = call.output_gradients[0] if call.output_gradients else None
    if given is None:
        return np.ones(1) if size == 1 else None
    return np.asarray(given.array).reshape(-1) if math.prod(given.shape or ()) == size else None

"""`jax.test_util.check_grads`: where it fails, the differences that it compared with stand beside the derivative."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from jax._src import public_test_util, tree_util

from gradproof.frontends.jax.observe.notes import Ending
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.ir.surroundings import Differences


@dataclass(eq=False)
class _Checking:
    """One comparison under way: the derivatives that it has asked for, and what its differences gave."""

    endings: list[Ending] = field(default_factory=list)
    compared: int | None = None  # the derivative that is compared: the last one before differences are taken
    differences: Differences | None = None
    is_reverse: bool = False
    primals: list[Any] = field(default_factory=list)
    tangents: list[Any] = field(default_factory=list)


class CheckGrads(threading.local):
    """The hooks on the check, which holds back what it asks for until it has ended."""

    def __init__(self, session: JaxSession) -> None:
        self._session = session
        self._under_way: list[_Checking] = []

    def patches(self) -> list[Patch]:
        return [
            wrap(public_test_util, "check_jvp", partial(self._check, is_reverse=False)),
            wrap(public_test_util, "check_vjp", partial(self._check, is_reverse=True)),
            wrap(public_test_util, "numerical_jvp", self._measure),
        ]

    def deliver(self, ending: Ending) -> None:
        if self._under_way:
            self._under_way[-1].endings.append(ending)
        else:
            self._session.deliver(ending)

    def _check(self, original: Any, *args: Any, is_reverse: bool, **kwargs: Any) -> Any:
        check = _Checking(is_reverse=is_reverse)
        self._under_way.append(check)
        is_passed = False
        try:
            result = original(*args, **kwargs)
            is_passed = True
            return result
        finally:
            self._under_way.remove(check)
            self._compare_reverse(check)
            for k, ending in enumerate(check.endings):
                if not is_passed and k == check.compared and check.differences is not None:
                    ending = replace(ending, differences=replace(check.differences, is_failed=True))
                self.deliver(ending)

    def _compare_reverse(self, check: _Checking) -> None:
        """Reverse mode is compared in one direction, and asked for after the differences in it."""
        if not check.is_reverse or check.differences is None or not check.endings:
            return
        ending, measured = check.endings[-1], check.differences
        points = [np.asarray(one.value) for one in ending.of.sources if not one.is_staged]
        is_same = len(points) == len(check.primals) and all(map(np.array_equal, points, check.primals))
        if not is_same or ending.is_forward or len(ending.weights) != 1:
            return
        slope = np.sum(measured.values * np.asarray(ending.weights[0].value))
        along = tuple(np.asarray(tangent) for tangent in check.tangents)
        if not any(map(np.iscomplexobj, (slope, *along))):
            check.compared = len(check.endings) - 1
            check.differences = Differences(measured.step, measured.name, slope, along)

    def _measure(self, original: Any, f: Any, primals: Any, tangents: Any, *rest: Any, **kwargs: Any) -> Any:
        check = self._under_way[-1] if self._under_way else None
        if check is not None and check.endings and not check.is_reverse:
            check.compared = len(check.endings) - 1
        found = original(f, primals, tangents, *rest, **kwargs)
        try:
            leaves = tree_util.tree_leaves(found)
            step = float((rest or (kwargs.get("eps", public_test_util.EPS),))[0])
            if check is not None and len(leaves) == 1:
                check.differences = Differences(step, "eps", np.asarray(leaves[0]))
                check.primals, check.tangents = (
                    tree_util.tree_leaves(primals),
                    tree_util.tree_leaves(tangents),
                )
        except Exception:
            self._session.note_failure()
        return found

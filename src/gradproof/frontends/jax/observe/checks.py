"""`jax.test_util.check_grads`: where it fails, the differences that it compared with stand beside the derivative."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
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


class CheckGrads(threading.local):
    """The hooks on the check, which holds back what it asks for until it has ended."""

    def __init__(self, session: JaxSession) -> None:
        self._session = session
        self._under_way: list[_Checking] = []

    def patches(self) -> list[Patch]:
        return [
            wrap(public_test_util, "check_jvp", self._check),
            wrap(public_test_util, "numerical_jvp", self._measure),
        ]

    def deliver(self, ending: Ending) -> None:
        if self._under_way:
            self._under_way[-1].endings.append(ending)
        else:
            self._session.deliver(ending)

    def _check(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        check = _Checking()
        self._under_way.append(check)
        is_passed = False
        try:
            result = original(*args, **kwargs)
            is_passed = True
            return result
        finally:
            self._under_way.remove(check)
            for k, ending in enumerate(check.endings):
                is_beside = not is_passed and k == check.compared
                self.deliver(replace(ending, differences=check.differences) if is_beside else ending)

    def _measure(self, original: Any, f: Any, primals: Any, tangents: Any, *rest: Any, **kwargs: Any) -> Any:
        check = self._under_way[-1] if self._under_way else None
        if check is not None and check.endings:
            check.compared = len(check.endings) - 1
        found = original(f, primals, tangents, *rest, **kwargs)
        try:
            leaves = tree_util.tree_leaves(found)
            step = float((rest or (kwargs.get("eps", public_test_util.EPS),))[0])
            if check is not None and len(leaves) == 1:
                check.differences = Differences(step, "eps", np.asarray(leaves[0]))
        except Exception:
            self._session.note_failure()
        return found

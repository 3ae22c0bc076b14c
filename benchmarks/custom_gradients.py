"""Mistakes planted in hand-written gradients: who finds them, who names them, who accuses the innocent.

Run it with `python -m benchmarks.custom_gradients` from the root of the repository. Each peer is used as its
documentation shows, with its own default settings: `scipy.optimize.check_grad` (whose number a user compares with
the square root of the unit roundoff), `autograd.test_util.check_grads` on a primitive with the rule as its vjp,
and `numdifftools.Gradient` with the error estimate it gives itself.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.planted_custom import FUNCTIONS, HARD, Function, Planted, Rule, as_gradient, as_operation, planted

import gradproof

INNOCENT = (*FUNCTIONS, *HARD)
SQRT_EPS = float(np.sqrt(np.finfo(float).eps))


@dataclass(frozen=True)
class Method:
    """`accuses` says whether a method calls the gradient of a function wrong; `names` whether it says why."""

    name: str
    accuses: Callable[[Function, Rule], bool]
    names: Callable[[Planted], bool] | None = None


def _flat(function: Function, rule: Rule) -> tuple[Callable[[Any], float], Callable[[Any], Any], Any]:
    """The loss and its gradient on one flat vector, as the peers want them."""
    loss, gradient = as_gradient(function, rule)
    sizes = np.cumsum([array.size for array in function.args])[:-1]

    def split(x: Any) -> list[Any]:
        return [part.reshape(array.shape) for part, array in zip(np.split(x, sizes), function.args)]

    def flat_gradient(x: Any) -> Any:
        found = gradient(*split(x))
        parts = found if isinstance(found, tuple) else (found,)
        return np.concatenate([np.asarray(part, float).reshape(-1) for part in parts])

    return (
        lambda x: float(loss(*split(x))),
        flat_gradient,
        np.concatenate([a.reshape(-1) for a in function.args]),
    )


def _scipy(function: Function, rule: Rule) -> bool:
    from scipy.optimize import check_grad

    loss, gradient, x = _flat(function, rule)
    # The number is a norm; a user compares it with what a difference of this gradient can reach.
    return bool(check_grad(loss, gradient, x) > 10 * SQRT_EPS * max(1.0, float(np.linalg.norm(gradient(x)))))


def _numdifftools(function: Function, rule: Rule) -> bool:
    import numdifftools

    loss, gradient, x = _flat(function, rule)
    found = numdifftools.Gradient(loss, full_output=True)(x)
    apart = np.abs(np.reshape(found.estimate, x.shape) - gradient(x))
    return bool((apart > np.reshape(found.error_estimate, x.shape)).any())


def _autograd(function: Function, rule: Rule) -> bool:
    from autograd.extend import defvjp, primitive
    from autograd.test_util import check_grads

    @primitive
    def operation(*xs: Any) -> Any:
        return function.forward(*xs)

    def vjp(k: int) -> Callable[..., Any]:
        def maker(y: Any, *xs: Any) -> Callable[[Any], Any]:
            def pull(dy: Any) -> Any:
                found = rule(dy, y, *xs)
                return np.asarray(found[k] if isinstance(found, tuple) else found, float)

            return pull

        return maker

    defvjp(operation, *(vjp(k) for k in range(len(function.args))))
    np.random.seed(0)  # it draws the direction it checks along
    try:
        check_grads(operation, modes=["rev"], order=1)(*function.args)
    except AssertionError:
        return True
    return False


def _ours(function: Function, rule: Rule) -> bool:
    report = gradproof.check(as_operation(function, rule, gradproof.custom_gradient), *function.args)
    return any(str(row.verdict) != "correct" for row in report.gradients)


def _our_name(case: Planted) -> bool:
    operation = as_operation(case.function, case.rule, gradproof.custom_gradient)
    report = gradproof.check(operation, *case.function.args)
    return any(words in found.headline for found in report.diagnostics for words in case.words)


METHODS = (
    Method("gradproof", _ours, _our_name),
    Method("scipy.optimize.check_grad", _scipy),
    Method("autograd check_grads", _autograd),
    Method("numdifftools, own estimate", _numdifftools),
)


def main() -> None:
    cases = tuple(planted())
    print(
        f"{len(cases)} mistakes in {len(FUNCTIONS)} functions, and {len(INNOCENT)} functions with right rules"
    )
    print(f"\n{'method':<28}{'found':>9}{'named':>9}{'false alarms':>14}{'seconds':>9}   missed")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in METHODS:
            print(_row(method, cases))


def _row(method: Method, cases: tuple[Planted, ...]) -> str:
    started = time.perf_counter()
    missed = [case for case in cases if not method.accuses(case.function, case.rule)]
    seconds = time.perf_counter() - started
    alarms = [function for function in INNOCENT if method.accuses(function, function.rule)]
    named = "" if method.names is None else str(sum(map(method.names, cases)))
    kinds = _most({case.kind for case in missed})
    found = f"{len(cases) - len(missed)}/{len(cases)}"
    return f"{method.name:<28}{found:>9}{named or '-':>9}{len(alarms):>11}/{len(INNOCENT)}{seconds:>9.1f}   {kinds}"


def _most(kinds: Iterable[str], cap: int = 4) -> str:
    listed = sorted(kinds)
    more = f", {len(listed) - cap} more kinds" if len(listed) > cap else ""
    return ", ".join(listed[:cap]) + more


if __name__ == "__main__":
    main()

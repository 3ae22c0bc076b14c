"""Special functions of one or more balls, entry by entry: one table of what the files beside it define."""

from __future__ import annotations

from typing import Any

from flint import acb, arb

from gradproof.domains import ball_bessel, ball_elementary, ball_error, ball_gamma, ball_parameter
from gradproof.domains.ball_precise import Kernel


def _of_balls(kernel: Kernel) -> Kernel:
    """Integers (an order, an exponent) may come as they are; a kernel sees exact balls."""

    def function(*xs: Any, **params: Any) -> Any:
        return kernel(*(x if isinstance(x, (arb, acb)) else arb(int(x)) for x in xs), **params)

    return function


KERNELS: dict[str, Kernel] = {
    name: _of_balls(kernel)
    for module in (ball_elementary, ball_error, ball_gamma, ball_bessel, ball_parameter)
    for name, kernel in module.KERNELS.items()
}

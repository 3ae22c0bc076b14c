"""Special functions of one or more balls, entry by entry: one table of what the files beside it define."""

from __future__ import annotations

from typing import Any

from flint import acb, arb, ctx

from gradproof.domains import ball_bessel, ball_elementary, ball_error, ball_gamma, ball_parameter
from gradproof.domains.ball_precise import Kernel, precision


def _of_balls(kernel: Kernel) -> Kernel:
    """Integers (an order, an exponent) may come as they are; a kernel sees exact balls."""

    def function(*xs: Any, **params: Any) -> Any:
        return kernel(*(x if isinstance(x, (arb, acb)) else arb(int(x)) for x in xs), **params)

    return function


# Functions whose cost grows with size and precision together: igamma(1e6, 1e6) takes 0.2 s with 256 bits, 2 s with
# 512 and minutes with 1024. Beyond LARGE they are worth no more than FRUGAL_BITS; the ball only stays wider.
COSTLY = frozenset({
    "igamma", "igammac", "igamma_da", "gamma_density", "betainc", "betainc_da", "betainc_db", "beta_density",
    "zeta", "zeta_ds", "polygamma", "hyp2f1", "hyp1f1", "hyp0f1",
})  # fmt: skip
LARGE = 1e4
FRUGAL_BITS = 256


def _frugal(kernel: Kernel) -> Kernel:
    def function(*xs: Any, **params: Any) -> Any:
        if ctx.prec <= FRUGAL_BITS or all(abs(x) < LARGE for x in xs):
            return kernel(*xs, **params)
        with precision(FRUGAL_BITS):
            return kernel(*xs, **params)

    return function


KERNELS: dict[str, Kernel] = {
    name: _of_balls(_frugal(kernel) if name in COSTLY else kernel)
    for module in (ball_elementary, ball_error, ball_gamma, ball_bessel, ball_parameter)
    for name, kernel in module.KERNELS.items()
}

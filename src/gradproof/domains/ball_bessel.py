"""Bessel functions of integer order, plain and scaled, and hypergeometric functions, on real balls."""

from __future__ import annotations

from flint import arb

from gradproof.domains.ball_precise import NAN, Kernel, centred, monotone, tighter


def _i(x: arb, order: int) -> arb:
    return x.bessel_i(order)


def _i_scaled(x: arb, order: int) -> arb:
    """exp(-x) I(x), smooth for all x; the library scales by exp(-|x|)."""
    return x.bessel_i(order, scaled=True) if x > 0 else (-x).exp() * x.bessel_i(order)


def _k(x: arb, order: int) -> arb:
    return x.bessel_k(order) if x > 0 else NAN


def _k_scaled(x: arb, order: int) -> arb:
    return x.bessel_k(order, scaled=True) if x > 0 else NAN


def _j(x: arb, order: int) -> arb:
    return x.bessel_j(order)


def _y(x: arb, order: int) -> arb:
    return x.bessel_y(order) if x > 0 else NAN


def _of_order(function: Kernel, neighbours: tuple[int, int], own: int = 0) -> Kernel:
    """The kernel whose slope is (down * f[n-1] + up * f[n+1]) / 2 + own * f[n]."""
    down, up = neighbours

    def kernel(x: arb, order: int) -> arb:
        def slope(x: arb) -> arb:
            return (down * function(x, order - 1) + up * function(x, order + 1)) / 2 + own * function(
                x, order
            )

        return centred(lambda x: function(x, order), slope)(x)

    return kernel


def _falling(function: Kernel) -> Kernel:
    """K and its scaled form fall for all x > 0."""
    return lambda x, order: monotone(lambda x: function(x, order))(x)


def _hyp0f1(x: arb, b: float) -> arb:
    def slope(x: arb) -> arb:
        y = x.hypgeom_0f1(b + 1)
        # For b >= 1/2 and x <= 0 the function is a mean of cosines (Poisson's integral): at most 1 in size.
        return (tighter(y, arb(0, 1)) if x <= 0 and b >= 0.5 else y) / b

    return centred(lambda x: x.hypgeom_0f1(b), slope)(x)


def _hyp1f1(x: arb, a: float, b: float) -> arb:
    def slope(x: arb) -> arb:
        return arb(a) / b * x.hypgeom_1f1(a + 1, b + 1)

    return centred(lambda x: x.hypgeom_1f1(a, b), slope)(x)


def _hyp2f1(x: arb, a: float, b: float, c: float) -> arb:
    def slope(x: arb) -> arb:
        return arb(a) * b / c * x.hypgeom_2f1(a + 1, b + 1, c + 1)

    return centred(lambda x: x.hypgeom_2f1(a, b, c), slope)(x)


KERNELS: dict[str, Kernel] = {
    "bessel_i": _of_order(_i, (1, 1)),
    "bessel_i_scaled": _of_order(_i_scaled, (1, 1), own=-1),
    "bessel_j": _of_order(_j, (1, -1)),
    "bessel_k": _falling(_k),
    "bessel_k_scaled": _falling(_k_scaled),
    "bessel_y": _of_order(_y, (1, -1)),
    "hyp0f1": _hyp0f1,
    "hyp1f1": _hyp1f1,
    "hyp2f1": _hyp2f1,
}

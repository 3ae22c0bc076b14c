"""Colours: from red, green and blue to hue, saturation and value."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import lower


@lower("RGBToHSV")
def _rgb_to_hsv(m: Any, event: Any, x: Any) -> Any:
    last = x.ndim - 1
    red, green, blue = (
        m.reshape(m.take(x, np.asarray([k]), axis=last), shape=tuple(x.shape[:-1])) for k in range(3)
    )
    value, least = (_extreme(m, x, decision, last) for decision in ("argmax", "argmin"))
    spread = value - least
    zero = m.zeros(())
    grey, black = m.less_equal(spread, 0), m.less_equal(value, 0)
    saturation = m.select(black, zero, spread / m.select(black, m.literal(1.0), value))
    sixth = 1 / m.mul(m.select(grey, m.literal(1.0), spread), 6)
    of_green = m.mul(sixth, blue - red) + m.div(m.literal(2.0), 6)
    of_blue = m.mul(sixth, red - green) + m.div(m.literal(4.0), 6)
    place = m.argmax(x, axis=last)
    hue = m.select(
        m.equal(place, 0), m.mul(sixth, green - blue), m.select(m.equal(place, 1), of_green, of_blue)
    )
    hue = m.select(grey, zero, hue)
    hue = m.select(m.less(hue, 0), hue + 1, hue)
    return m.stack(hue, saturation, value, axis=last)


def _extreme(m: Any, x: Any, decision: str, axis: int) -> Any:
    place = getattr(m, decision)(x, axis=axis)
    taken = m.take_along(x, m.reshape(place, shape=(*place.shape, 1)), axis=axis)
    return m.reshape(taken, shape=tuple(x.shape[:-1]))

"""Discrete Fourier transforms of one to three axes, of complex and of real signals."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import ints, lower


def _last(x: Any, n_axes: int) -> tuple[int, ...]:
    return tuple(range(x.ndim - n_axes, x.ndim))


def _complex_transform(name: str, n_axes: int, op: str) -> None:
    @lower(name)
    def transform(m: Any, event: Any, x: Any) -> Any:
        return getattr(m, op)(x, axes=_last(x, n_axes))


for _n, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _complex_transform(f"FFT{_suffix}", _n, "fft")
    _complex_transform(f"IFFT{_suffix}", _n, "ifft")


def _fitted(m: Any, x: Any, lengths: tuple[int, ...]) -> Any:
    """The last axes cropped, or filled up with zeros, to the lengths."""
    lead = tuple(x.shape[: x.ndim - len(lengths)])
    kept = tuple(min(n, length) for n, length in zip(x.shape[len(lead) :], lengths))
    x = m.strided_slice(x, begin=(0,) * x.ndim, end=(*lead, *kept))
    missing = tuple((0, length - n) for n, length in zip(kept, lengths))
    return m.pad(x, widths=(*((0, 0),) * len(lead), *missing)) if any(n for _, n in missing) else x


def _real_transform(n_axes: int, suffix: str) -> None:
    @lower(f"RFFT{suffix}")
    def forwards(m: Any, event: Any, x: Any, lengths: Any) -> Any:
        y = m.rfft(_fitted(m, x, ints(lengths)), axis=x.ndim - 1)
        return m.fft(y, axes=_last(x, n_axes)[:-1]) if n_axes > 1 else y

    @lower(f"IRFFT{suffix}")
    def backwards(m: Any, event: Any, x: Any, lengths: Any) -> Any:
        *others, last = ints(lengths)
        x = _fitted(m, x, (*others, last // 2 + 1))
        y = m.ifft(x, axes=_last(x, n_axes)[:-1]) if n_axes > 1 else x
        return m.irfft(y, axis=x.ndim - 1, length=last)


for _n, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _real_transform(_n, _suffix)

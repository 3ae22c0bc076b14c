"""Discrete Fourier transforms, of complex and of real signals."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower


@lower("fft")
def _fft(m: Any, event: Any, x: Any) -> Any:
    kind = event.attrs["fft_type"].name
    lengths = tuple(event.attrs["fft_lengths"])
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if kind in ("FFT", "IFFT"):
        return getattr(m, kind.lower())(x, axes=axes)
    if kind == "RFFT":
        y = m.rfft(x, axis=x.ndim - 1)
        return m.fft(y, axes=axes[:-1]) if len(axes) > 1 else y
    if kind == "IRFFT":
        y = m.ifft(x, axes=axes[:-1]) if len(axes) > 1 else x
        return m.irfft(y, axis=x.ndim - 1, length=lengths[-1])
    raise NotImplementedError(f"a transform of the kind {kind}")

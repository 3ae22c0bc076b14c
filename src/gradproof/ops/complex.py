"""Complex numbers: their parts, and how they are put together."""

from __future__ import annotations

from gradproof.ops._op import op

# Gradients follow the convention of TensorFlow and PyTorch: the conjugate of the slope multiplies.
op("conj", pullback=lambda m, i, gy, y, x: m.conj(gy), linear="jointly", samples=(((1.0, -2.0),),))

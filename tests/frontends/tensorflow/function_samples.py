"""Functions of TensorFlow's public modules, each at a point where it is smooth, for the sweep over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

_RNG = np.random.default_rng(7)
_IMAGE = tf.constant(_RNG.uniform(0.1, 0.9, (1, 5, 6, 3)), tf.float32)
_SIGNAL = tf.constant(_RNG.normal(size=16), tf.float32)
_MATRIX = tf.constant([[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.1, 0.3, 1.2]])
_SYMMETRIC = tf.constant([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 1.2]])
_VECTOR = tf.constant([0.3, 0.7, 1.1, 1.9])
_UNIT = tf.constant([0.2, -0.4, 0.6])
_POSITIVE = tf.constant([0.4, 1.3, 2.2])
_PAIR = tf.constant([[0.4, 1.3], [2.2, 0.8], [1.7, 0.6]])
_COMPLEX = tf.constant([1.0 + 2.0j, 0.5 - 1.0j, -0.3 + 0.2j, 0.9 + 0.4j], tf.complex64)
_LABELS = tf.constant([[0.0, 1.0], [0.3, 0.7], [1.0, 0.0]])

Sample = tuple[Callable[[Any], Any], Any]


def _named(module: Any, names: str, x: Any) -> dict[str, Sample]:
    return {
        f"{module.__name__.rsplit('.', 1)[-1]}.{name}": (getattr(module, name), x) for name in names.split()
    }


_SMOOTH = (
    "sin cos tan sinh cosh tanh asinh atan erf erfcinv exp expm1 log1p sigmoid softplus softsign square log_sigmoid "
    "bessel_i0 bessel_i0e bessel_i1 bessel_i1e"
)
MATH: dict[str, Sample] = {
    **_named(tf.math, _SMOOTH, _POSITIVE / 4.0),
    **_named(
        tf.math, "log sqrt rsqrt reciprocal lgamma digamma ndtri erfinv atanh asin acos", _POSITIVE / 4.0
    ),
    **_named(tf.math, "abs negative cumsum cumprod cumulative_logsumexp", _POSITIVE),
    **_named(
        tf.math, "reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_logsumexp reduce_std", _PAIR
    ),
    **_named(tf.math, "reduce_variance reduce_euclidean_norm", _PAIR),
    **_named(
        tf.math.special,
        "dawsn expint fresnel_cos fresnel_sin spence bessel_j0 bessel_y1 bessel_k0",
        _POSITIVE,
    ),
    "math.acosh": (tf.math.acosh, 1.0 + _POSITIVE),
    "math.pow": (lambda x: tf.math.pow(x, tf.reverse(x, [0])), _POSITIVE),
    "math.atan2": (lambda x: tf.math.atan2(x, tf.reverse(x, [0])), _POSITIVE),
    "math.xlogy": (lambda x: tf.math.xlogy(x, x + 1.0), _POSITIVE),
    "math.xlog1py": (lambda x: tf.math.xlog1py(x, x), _POSITIVE),
    "math.xdivy": (lambda x: tf.math.xdivy(x, x + 2.0), _POSITIVE),
    "math.divide_no_nan": (lambda x: tf.math.divide_no_nan(x, x + 2.0), _POSITIVE),
    "math.squared_difference": (lambda x: tf.math.squared_difference(x, 2.0 * x), _POSITIVE),
    "math.floormod": (lambda x: tf.math.floormod(x, 0.9), _POSITIVE),
    "math.igamma": (lambda x: tf.math.igamma(x, x + 0.5), _POSITIVE),
    "math.igammac": (lambda x: tf.math.igammac(tf.constant(1.7), x), _POSITIVE),
    "math.betainc": (lambda x: tf.math.betainc(1.5, 2.5, x), _POSITIVE / 4.0),
    "math.lbeta": (tf.math.lbeta, _POSITIVE),
    "math.polygamma": (lambda x: tf.math.polygamma(2.0, x), _POSITIVE),
    "math.zeta": (lambda x: tf.math.zeta(2.5, x), _POSITIVE),
    "math.polyval": (lambda x: tf.math.polyval([0.5, -1.0, 2.0], x), _POSITIVE),
    "math.l2_normalize": (lambda x: tf.math.l2_normalize(x, 0), _POSITIVE),
    "math.top_k": (lambda x: tf.math.top_k(x, 2).values, _VECTOR),
    "math.segment_sum": (lambda x: tf.math.segment_sum(x, [0, 0, 1]), _POSITIVE),
    "math.segment_mean": (lambda x: tf.math.segment_mean(x, [0, 0, 1]), _POSITIVE),
    "math.segment_max": (lambda x: tf.math.segment_max(x, [0, 0, 1]), _POSITIVE),
    "math.segment_prod": (lambda x: tf.math.segment_prod(x, [0, 0, 1]), _POSITIVE),
    "math.unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 2), _POSITIVE),
    "math.unsorted_segment_mean": (lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 2), _POSITIVE),
    "math.unsorted_segment_max": (lambda x: tf.math.unsorted_segment_max(x, [1, 0, 1], 2), _POSITIVE),
    "math.unsorted_segment_sqrt_n": (lambda x: tf.math.unsorted_segment_sqrt_n(x, [1, 0, 1], 2), _POSITIVE),
    "math.abs of complex": (tf.math.abs, _COMPLEX),
    "math.angle": (tf.math.angle, _COMPLEX),
    "math.real": (lambda z: tf.math.real(z * tf.math.conj(z) + z**2), _COMPLEX),
}
NN: dict[str, Sample] = {
    **_named(
        tf.nn, "relu relu6 elu selu silu gelu leaky_relu crelu softmax log_softmax softplus softsign", _UNIT
    ),
    "nn.log_poisson_loss": (lambda x: tf.nn.log_poisson_loss(_POSITIVE, x), _UNIT),
    "nn.sigmoid_cross_entropy": (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(_LABELS, x), _PAIR),
    "nn.weighted_cross_entropy": (lambda x: tf.nn.weighted_cross_entropy_with_logits(_LABELS, x, 2.0), _PAIR),
    "nn.softmax_cross_entropy": (lambda x: tf.nn.softmax_cross_entropy_with_logits(_LABELS, x), _PAIR),
    "nn.sparse_softmax": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 1], x), _PAIR),
    "nn.moments": (lambda x: tf.nn.moments(x, [0])[1], _PAIR),
    "nn.l2_loss": (tf.nn.l2_loss, _PAIR),
    "nn.avg_pool": (lambda x: tf.nn.avg_pool2d(x, 2, 1, "SAME"), _IMAGE),
    "nn.max_pool": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), _IMAGE),
    "nn.conv2d": (lambda x: tf.nn.conv2d(x, tf.reshape(x[0, :2, :2], [2, 2, 3, 1]), 1, "SAME"), _IMAGE),
    "nn.depthwise_conv2d": (
        lambda x: tf.nn.depthwise_conv2d(x, tf.reshape(x[0, :2, :2], [2, 2, 3, 1]), [1, 1, 1, 1], "VALID"),
        _IMAGE,
    ),
    "nn.dilation2d": (
        lambda x: tf.nn.dilation2d(x, x[0, :2, :2], [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
        _IMAGE,
    ),
    "nn.local_response_normalization": (lambda x: tf.nn.local_response_normalization(x, 1), _IMAGE),
    "nn.space_to_depth": (lambda x: tf.nn.space_to_depth(x[:, :4], 2), _IMAGE),
    "nn.batch_normalization": (
        lambda x: tf.nn.batch_normalization(x, x[0], x[1], x[2], x[0], 1e-3),
        _PAIR,
    ),
    "nn.ctc_loss": (
        lambda x: tf.nn.ctc_loss([[1, 2]], x, [2], [4], logits_time_major=True, blank_index=0),
        tf.constant(_RNG.normal(size=(4, 1, 3)), tf.float32),
    ),
    "nn.embedding_lookup": (lambda x: tf.nn.embedding_lookup(x, [0, 2, 2]), _PAIR),
    "nn.bias_add": (lambda x: tf.nn.bias_add(x, x[0]), _PAIR),
}
LINALG: dict[str, Sample] = {
    **_named(tf.linalg, "det inv trace expm adjoint diag_part slogdet pinv norm sqrtm", _MATRIX),
    **_named(tf.linalg, "cholesky eigvalsh logdet", _SYMMETRIC),
    "linalg.solve": (lambda a: tf.linalg.solve(a, a[:, :1]), _MATRIX),
    "linalg.lstsq": (lambda a: tf.linalg.lstsq(a[:, :2], a[:, 2:]), _MATRIX),
    "linalg.triangular_solve": (lambda a: tf.linalg.triangular_solve(a, a), _MATRIX),
    "linalg.cholesky_solve": (lambda a: tf.linalg.cholesky_solve(a, a), _MATRIX),
    "linalg.qr": (lambda a: tf.linalg.qr(a).r, _MATRIX),
    "linalg.svd": (lambda a: tf.linalg.svd(a, compute_uv=False), _MATRIX),
    "linalg.band_part": (lambda a: tf.linalg.band_part(a, 1, 0), _MATRIX),
    "linalg.matmul": (lambda a: tf.linalg.matmul(a, a, transpose_b=True), _MATRIX),
    "linalg.cross": (lambda x: tf.linalg.cross(x, tf.reverse(x, [0])), _POSITIVE),
    "linalg.tridiagonal_solve": (lambda a: tf.linalg.tridiagonal_solve(a, a[0]), _MATRIX),
    "linalg.global_norm": (lambda a: tf.linalg.global_norm([a, 2.0 * a]), _MATRIX),
    "linalg.einsum": (lambda a: tf.einsum("ij,jk,lk->il", a, a, a), _MATRIX),
}
IMAGE: dict[str, Sample] = {
    **{
        f"image.resize {how}": (lambda x, how=how: tf.image.resize(x, [7, 4], how), _IMAGE)
        for how in ("bilinear", "bicubic", "lanczos3", "gaussian", "mitchellcubic", "nearest")
    },
    "image.rgb_to_grayscale": (tf.image.rgb_to_grayscale, _IMAGE),
    "image.rgb_to_yuv": (tf.image.rgb_to_yuv, _IMAGE),
    "image.adjust_brightness": (lambda x: tf.image.adjust_brightness(x, 0.2), _IMAGE),
    "image.total_variation": (tf.image.total_variation, _IMAGE),
    "image.sobel_edges": (tf.image.sobel_edges, _IMAGE),
    "image.psnr": (lambda x: tf.image.psnr(x, x[:, ::-1], 1.0), _IMAGE),
    "image.per_image_standardization": (tf.image.per_image_standardization, _IMAGE),
    "image.crop_and_resize": (
        lambda x: tf.image.crop_and_resize(x, [[0.1, 0.1, 0.8, 0.9]], [0], [3, 3]),
        _IMAGE,
    ),
    "image.extract_patches": (
        lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        _IMAGE,
    ),
    "image.rot90": (tf.image.rot90, _IMAGE),
    "image.adjust_gamma": (lambda x: tf.image.adjust_gamma(x, 2.2), _IMAGE),
}
SIGNAL: dict[str, Sample] = {
    **_named(tf.signal, "fft ifft fftshift", _COMPLEX),
    **_named(tf.signal, "rfft dct", _SIGNAL),
    "signal.irfft": (lambda x: tf.signal.irfft(tf.complex(x, x**2)), _SIGNAL),
    "signal.stft": (lambda x: tf.abs(tf.signal.stft(x, 8, 4)), _SIGNAL),
    "signal.frame": (lambda x: tf.signal.frame(x, 6, 3), _SIGNAL),
    "signal.overlap_and_add": (lambda x: tf.signal.overlap_and_add(tf.reshape(x, [4, 4]), 2), _SIGNAL),
    "signal.idct": (tf.signal.idct, _SIGNAL),
    "signal.mdct": (lambda x: tf.signal.mdct(x, 8), _SIGNAL),
    "signal.fft2d": (lambda z: tf.signal.fft2d(tf.reshape(z, [2, 2])), _COMPLEX),
}
SAMPLES: Mapping[str, Sample] = {**MATH, **NN, **LINALG, **IMAGE, **SIGNAL}


def number(function: Callable[[Any], Any], x: Any) -> Any:
    """One number made of all entries of a result, each with a weight of its own."""
    total = 0.0
    for part in tf.nest.flatten(function(x)):
        if part.dtype.is_complex:
            part = tf.math.real(part) + 0.5 * tf.math.imag(part)
        if part.dtype.is_floating:
            weights = tf.cos(tf.range(tf.size(part), dtype=part.dtype) + 0.3)
            total += tf.reduce_sum(tf.reshape(weights, tf.shape(part)) * part)
    return total

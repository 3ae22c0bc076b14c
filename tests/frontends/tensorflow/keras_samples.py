"""Small Keras models, one for each layer, with data of the shape that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
Sample = tuple[Callable[[], Any], Any]
_RNG = np.random.default_rng(5)


def _normal(*shape: int) -> Any:
    return _RNG.normal(size=shape).astype("float32")


VECTORS, SEQUENCES = _normal(8, 5), _normal(4, 6, 5)
IMAGES, VOLUMES, FILMS = _normal(4, 8, 8, 3), _normal(2, 5, 5, 5, 2), _normal(2, 3, 4, 4, 1)
WORDS = _RNG.integers(0, 10, (4, 6))

ACTIVATIONS = [
    "relu",
    "relu6",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
    "selu",
    "elu",
    "exponential",
    "leaky_relu",
    "silu",
    "hard_silu",
    "gelu",
    "hard_sigmoid",
    "linear",
    "mish",
    "log_softmax",
    "celu",
    "hard_tanh",
    "squareplus",
    "log_sigmoid",
    "hard_shrink",
    "soft_shrink",
    "tanh_shrink",
    "sparse_plus",
    "sparsemax",
]
OF_IMAGES: dict[str, Callable[[], Any]] = {
    "Conv2D": lambda: layers.Conv2D(4, 3),
    "Conv2D strides": lambda: layers.Conv2D(4, 3, strides=2, padding="same"),
    "Conv2D dilation": lambda: layers.Conv2D(4, 3, dilation_rate=2),
    "Conv2D groups": lambda: layers.Conv2D(6, 3, groups=2),
    "DepthwiseConv2D": lambda: layers.DepthwiseConv2D(3),
    "SeparableConv2D": lambda: layers.SeparableConv2D(4, 3),
    "Conv2DTranspose": lambda: layers.Conv2DTranspose(4, 3, strides=2),
    "MaxPooling2D": lambda: layers.MaxPooling2D(),
    "AveragePooling2D": lambda: layers.AveragePooling2D(2),
    "GlobalMaxPooling2D": lambda: layers.GlobalMaxPooling2D(),
    "GlobalAveragePooling2D": lambda: layers.GlobalAveragePooling2D(),
    "UpSampling2D": lambda: layers.UpSampling2D(interpolation="bilinear"),
    "ZeroPadding2D": lambda: layers.ZeroPadding2D(),
    "Cropping2D": lambda: layers.Cropping2D(),
    "Resizing": lambda: layers.Resizing(5, 5),
    "BatchNormalization": lambda: layers.BatchNormalization(),
    "GroupNormalization": lambda: layers.GroupNormalization(2),
    "LayerNormalization": lambda: layers.LayerNormalization(),
    "RMSNormalization": lambda: layers.RMSNormalization(),
    "UnitNormalization": lambda: layers.UnitNormalization(),
    "SpectralNormalization": lambda: layers.SpectralNormalization(layers.Conv2D(4, 3)),
    "SpatialDropout2D": lambda: layers.SpatialDropout2D(0.3),
    "PReLU": lambda: layers.PReLU(),
    "Permute": lambda: layers.Permute((3, 1, 2)),
    "Rescaling": lambda: layers.Rescaling(2.0),
}
OF_SEQUENCES: dict[str, Callable[[], Any]] = {
    "Conv1D causal": lambda: layers.Conv1D(4, 3, padding="causal"),
    "SeparableConv1D": lambda: layers.SeparableConv1D(4, 3),
    "Conv1DTranspose": lambda: layers.Conv1DTranspose(3, 2),
    "LSTM": lambda: layers.LSTM(4),
    "LSTM dropout": lambda: layers.LSTM(4, return_sequences=True, dropout=0.2, recurrent_dropout=0.2),
    "LSTM unrolled": lambda: layers.LSTM(3, unroll=True),
    "GRU": lambda: layers.GRU(4),
    "GRU reset before": lambda: layers.GRU(4, reset_after=False),
    "SimpleRNN": lambda: layers.SimpleRNN(4),
    "Bidirectional": lambda: layers.Bidirectional(layers.LSTM(3)),
    "TimeDistributed": lambda: layers.TimeDistributed(layers.Dense(3)),
    "Masking": lambda: tf.keras.Sequential([layers.Masking(), layers.LSTM(3)]),
    "MaxPooling1D": lambda: layers.MaxPooling1D(),
    "AveragePooling1D": lambda: layers.AveragePooling1D(2),
    "UpSampling1D": lambda: layers.UpSampling1D(),
    "EinsumDense": lambda: layers.EinsumDense("abc,cd->abd", output_shape=(6, 4), bias_axes="d"),
    "Dropout": lambda: layers.Dropout(0.3),
    "AlphaDropout": lambda: layers.AlphaDropout(0.3),
    "GaussianDropout": lambda: layers.GaussianDropout(0.3),
    "GaussianNoise": lambda: layers.GaussianNoise(0.3),
}
OF_VOLUMES: dict[str, Callable[[], Any]] = {
    "Conv3D": lambda: layers.Conv3D(2, 2),
    "Conv3DTranspose": lambda: layers.Conv3DTranspose(2, 2),
    "MaxPooling3D": lambda: layers.MaxPooling3D(),
    "AveragePooling3D": lambda: layers.AveragePooling3D(2),
}
BRANCHING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "MultiHeadAttention": (lambda x: layers.MultiHeadAttention(2, 3)(x, x), SEQUENCES),
    "MultiHeadAttention causal": (
        lambda x: layers.MultiHeadAttention(2, 3, dropout=0.1)(x, x, use_causal_mask=True),
        SEQUENCES,
    ),
    "GroupQueryAttention": (lambda x: layers.GroupQueryAttention(4, 4, 2)(x, x), SEQUENCES),
    "Attention": (
        lambda x: layers.Attention(use_scale=True)([layers.Dense(3)(x), layers.Dense(3)(x)]),
        SEQUENCES,
    ),
    "AdditiveAttention": (
        lambda x: layers.AdditiveAttention()([layers.Dense(3)(x), layers.Dense(3)(x)]),
        SEQUENCES,
    ),
    "Maximum": (lambda x: layers.Maximum()([layers.Dense(3)(x), layers.Dense(3)(x)]), VECTORS),
    "Dot": (lambda x: layers.Dot(axes=1)([layers.Dense(3)(x), layers.Dense(3)(x)]), VECTORS),
    "Embedding": (lambda x: layers.Embedding(10, 3)(x), WORDS),
    "Embedding with mask": (lambda x: layers.LSTM(3)(layers.Embedding(10, 3, mask_zero=True)(x)), WORDS),
    "ConvLSTM2D": (lambda x: layers.ConvLSTM2D(2, 2)(x), FILMS),
}


def _chain(first: Callable[[], Any], middle: Callable[[], Any]) -> Callable[[], Any]:
    """A layer with weights, the layer in question, and a number per example; biases stay away from normalisation."""
    return lambda: tf.keras.Sequential([first(), middle(), layers.Flatten(), layers.Dense(1)])


def _branches(make: Callable[[Any], Any], data: Any) -> Callable[[], Any]:
    def model() -> Any:
        x = tf.keras.Input(data.shape[1:])
        return tf.keras.Model(x, layers.Dense(1)(layers.Flatten()(make(x))))

    return model


SAMPLES: dict[str, Sample] = {
    **{
        name: (_chain(lambda: layers.Dense(6), lambda name=name: layers.Activation(name)), VECTORS)
        for name in ACTIVATIONS
    },
    **{
        name: (_chain(lambda: layers.Conv2D(4, 3, use_bias=False), make), IMAGES)
        for name, make in OF_IMAGES.items()
    },
    **{name: (_chain(lambda: layers.Dense(4), make), SEQUENCES) for name, make in OF_SEQUENCES.items()},
    **{name: (_chain(lambda: layers.Conv3D(2, 1), make), VOLUMES) for name, make in OF_VOLUMES.items()},
    **{name: (_branches(make, data), data) for name, (make, data) in BRANCHING.items()},
}
LOSSES = [
    "mean_squared_error",
    "mean_absolute_error",
    "mean_squared_logarithmic_error",
    "huber",
    "log_cosh",
    "poisson",
    "kl_divergence",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "cosine_similarity",
    "hinge",
    "squared_hinge",
]
OPTIMIZERS = [
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "Nadam",
    "Ftrl",
    "Lion",
    "Lamb",
]

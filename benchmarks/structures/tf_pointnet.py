"""PointNet: transforms that are computed from the points, a maximum over all of them."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)


def conv(x, f):
    return layers.Activation("relu")(
        layers.BatchNormalization(momentum=0.0)(layers.Conv1D(f, 1, padding="valid")(x))
    )


def dense(x, f):
    return layers.Activation("relu")(layers.BatchNormalization(momentum=0.0)(layers.Dense(f)(x)))


class Orthogonal(tf.keras.regularizers.Regularizer):
    def __init__(self, n, l2=0.001):
        self.n, self.l2 = n, l2

    def __call__(self, x):
        x = tf.reshape(x, (-1, self.n, self.n))
        xxt = tf.tensordot(x, x, axes=(2, 2))
        xxt = tf.reshape(xxt, (-1, self.n, self.n))
        return tf.reduce_sum(self.l2 * tf.square(xxt - tf.eye(self.n)))


def tnet(inputs, n):
    x = conv(inputs, 32)
    x = conv(x, 64)
    x = conv(x, 512)
    x = layers.GlobalMaxPooling1D()(x)
    x = dense(x, 256)
    x = dense(x, 128)
    x = layers.Dense(
        n * n,
        kernel_initializer="zeros",
        bias_initializer=tf.keras.initializers.Constant(np.eye(n).flatten()),
        activity_regularizer=Orthogonal(n),
    )(x)
    return layers.Dot(axes=(2, 1))([inputs, layers.Reshape((n, n))(x)])


inputs = layers.Input((256, 3))
x = tnet(inputs, 3)
x = conv(x, 32)
x = conv(x, 32)
x = tnet(x, 32)
x = conv(x, 32)
x = conv(x, 64)
x = conv(x, 512)
x = layers.GlobalMaxPooling1D()(x)
x = dense(x, 256)
x = layers.Dropout(0.3)(x)
x = dense(x, 128)
x = layers.Dropout(0.3)(x)
net = tf.keras.Model(inputs, layers.Dense(10, activation="softmax")(x))
net.compile("adam", "sparse_categorical_crossentropy")
rng = np.random.default_rng(0)
net.fit(
    rng.normal(size=(64, 256, 3)).astype("f"), rng.integers(0, 10, 64), batch_size=32, epochs=1, verbose=0
)

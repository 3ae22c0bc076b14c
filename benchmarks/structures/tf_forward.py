"""The forward-forward algorithm: every layer has a loss and an optimizer of its own."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


class Layer(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)
        self.opt = tf.keras.optimizers.Adam(0.03)

    def call(self, x):
        return tf.nn.relu(self.dense(x / (tf.norm(x, ord=2, axis=1, keepdims=True) + 1e-4)))

    def step(self, p, n):
        for _ in range(3):
            with tf.GradientTape() as tape:
                gp, gn = (tf.reduce_mean(tf.pow(self.call(z), 2), 1) for z in (p, n))
                loss = tf.reduce_mean(tf.math.log(1 + tf.exp(tf.concat([-gp + 1.5, gn - 1.5], 0))))
            self.opt.apply_gradients(
                zip(tape.gradient(loss, self.dense.trainable_weights), self.dense.trainable_weights)
            )
        return tf.stop_gradient(self.call(p)), tf.stop_gradient(self.call(n))


rng = np.random.default_rng(0)
p, n = (tf.constant(rng.uniform(size=(256, 784)), tf.float32) for _ in range(2))
for layer in (Layer(500), Layer(500)):
    p, n = layer.step(p, n)

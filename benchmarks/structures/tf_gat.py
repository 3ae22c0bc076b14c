"""Graph attention: several heads, attention over neighbours only."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
n, d, h, u = 300, 64, 8, 8
edges = tf.constant(
    np.concatenate([rng.integers(0, n, (2000, 2)), np.stack([np.arange(n)] * 2, 1)]), tf.int32
)
x, y = tf.constant(rng.uniform(size=(n, d)), tf.float32), tf.constant(rng.integers(0, 7, n))


class Gat(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, s):
        self.k = self.add_weight(shape=(s[-1], self.units), name="kernel")
        self.a = self.add_weight(shape=(2 * self.units, 1), name="attention")

    def call(self, x):
        t = tf.matmul(x, self.k)
        e = tf.reshape(tf.gather(t, edges), (-1, 2 * self.units))
        s = tf.squeeze(tf.nn.leaky_relu(tf.matmul(e, self.a)), -1)
        s = tf.exp(tf.clip_by_value(s, -2, 2))
        total = tf.math.unsorted_segment_sum(s, edges[:, 0], n)
        s = s / tf.gather(total, edges[:, 0])
        return tf.math.unsorted_segment_sum(tf.gather(t, edges[:, 1]) * s[:, None], edges[:, 0], n)


heads, out = [Gat(u) for _ in range(h)], tf.keras.layers.Dense(7)
heads2 = [Gat(u) for _ in range(h)]


def net(x):
    z = tf.nn.relu(tf.concat([one(x) for one in heads], -1))
    z = tf.nn.relu(tf.concat([one(z) for one in heads2], -1)) + z
    return out(z)


net(x)
opt = tf.keras.optimizers.SGD(0.1, 0.9)
ws = [w for layer in (*heads, *heads2, out) for w in layer.trainable_variables]
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=net(x)))
    opt.apply_gradients(zip(tape.gradient(loss, ws), ws))

"""A Wasserstein GAN with gradient penalty: a gradient inside the loss."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
critic = tf.keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(32, 5, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(64, 5, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
gen = tf.keras.Sequential(
    [
        layers.Input((64,)),
        layers.Dense(7 * 7 * 64, use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.Reshape((7, 7, 64)),
        layers.UpSampling2D(2),
        layers.Conv2D(32, 3, 1, "same", use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.UpSampling2D(2),
        layers.Conv2D(1, 3, 1, "same", activation="tanh"),
    ]
)


class Gan(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.c, self.g = critic, gen

    def train_step(self, real):
        n = tf.shape(real)[0]
        for _ in range(2):
            z = tf.random.normal((n, 64))
            with tf.GradientTape() as tape:
                fake = self.g(z, training=True)
                a, b = self.c(fake, training=True), self.c(real, training=True)
                alpha = tf.random.normal([n, 1, 1, 1])
                mixed = real + alpha * (fake - real)
                with tf.GradientTape() as inner:
                    inner.watch(mixed)
                    pred = self.c(mixed, training=True)
                slope = inner.gradient(pred, [mixed])[0]
                norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=[1, 2, 3]))
                loss = tf.reduce_mean(a) - tf.reduce_mean(b) + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
            g = tape.gradient(loss, self.c.trainable_variables)
            self.oc.apply_gradients(zip(g, self.c.trainable_variables))
        with tf.GradientTape() as tape:
            lg = -tf.reduce_mean(self.c(self.g(tf.random.normal((n, 64)), training=True), training=True))
        g = tape.gradient(lg, self.g.trainable_variables)
        self.og.apply_gradients(zip(g, self.g.trainable_variables))
        return {"loss": loss}


gan = Gan()
gan.oc, gan.og = (tf.keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9) for _ in range(2))
gan.compile()
gan.fit(
    np.random.default_rng(0).uniform(-1, 1, (64, 28, 28, 1)).astype("f"), batch_size=32, epochs=1, verbose=0
)

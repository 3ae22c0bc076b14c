"""A variational autoencoder with transposed convolutions."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
e = layers.Input((28, 28, 1))
x = layers.Conv2D(32, 3, 2, "same", activation="relu")(e)
x = layers.Conv2D(64, 3, 2, "same", activation="relu")(x)
x = layers.Dense(16, activation="relu")(layers.Flatten()(x))
enc = tf.keras.Model(e, [layers.Dense(2)(x), layers.Dense(2)(x)])
d = layers.Input((2,))
x = layers.Reshape((7, 7, 64))(layers.Dense(7 * 7 * 64, activation="relu")(d))
x = layers.Conv2DTranspose(64, 3, 2, "same", activation="relu")(x)
x = layers.Conv2DTranspose(32, 3, 2, "same", activation="relu")(x)
dec = tf.keras.Model(d, layers.Conv2DTranspose(1, 3, padding="same", activation="sigmoid")(x))


class Vae(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.e, self.d = enc, dec

    def train_step(self, data):
        with tf.GradientTape() as tape:
            m, v = self.e(data)
            z = m + tf.exp(0.5 * v) * tf.random.normal(tf.shape(m))
            y = self.d(z)
            rec = tf.reduce_mean(tf.reduce_sum(tf.keras.losses.binary_crossentropy(data, y), axis=(1, 2)))
            loss = rec + tf.reduce_mean(tf.reduce_sum(-0.5 * (1 + v - tf.square(m) - tf.exp(v)), axis=1))
        g = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(g, self.trainable_weights))
        return {"loss": loss}


vae = Vae()
vae.compile("adam")
vae.fit(
    np.random.default_rng(0).uniform(size=(64, 28, 28, 1)).astype("f"), batch_size=32, epochs=1, verbose=0
)

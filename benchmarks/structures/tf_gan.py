"""A GAN with transposed convolutions, discriminator and generator in turns."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
dis = tf.keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(32, 3, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(64, 3, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.GlobalMaxPooling2D(),
        layers.Dense(1),
    ]
)
gen = tf.keras.Sequential(
    [
        layers.Input((64,)),
        layers.Dense(7 * 7 * 64),
        layers.LeakyReLU(0.2),
        layers.Reshape((7, 7, 64)),
        layers.Conv2DTranspose(64, 4, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(64, 4, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(1, 7, padding="same", activation="sigmoid"),
    ]
)
od, og = tf.keras.optimizers.Adam(3e-4), tf.keras.optimizers.Adam(4e-4)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(real):
    fake = gen(tf.random.normal((32, 64)))
    both = tf.concat([fake, real], 0)
    labels = tf.concat([tf.ones((32, 1)), tf.zeros((32, 1))], 0) + 0.05 * tf.random.uniform((64, 1))
    with tf.GradientTape() as tape:
        loss = bce(labels, dis(both))
    od.apply_gradients(zip(tape.gradient(loss, dis.trainable_weights), dis.trainable_weights))
    with tf.GradientTape() as tape:
        lg = bce(tf.zeros((32, 1)), dis(gen(tf.random.normal((32, 64)))))
    og.apply_gradients(zip(tape.gradient(lg, gen.trainable_weights), gen.trainable_weights))


real = tf.random.uniform((32, 28, 28, 1))
for _ in range(3):
    step(real)

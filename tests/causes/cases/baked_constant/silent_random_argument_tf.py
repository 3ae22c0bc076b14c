# Silent: the random numbers are an argument, and others in every call.
import numpy as np
import tensorflow as tf

x = tf.Variable([1.0, 2.0])


@tf.function
def noisy(noise):
    return tf.reduce_sum((x + noise) ** 2)


for seed in range(2):
    noise = tf.constant(np.random.default_rng(seed).normal(size=2).astype("float32"))
    with tf.GradientTape() as tape:
        loss = noisy(noise)
    print(tape.gradient(loss, x))

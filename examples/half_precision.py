"""Mixed precision without loss scaling: small gradients fall below the smallest float16.

The forward pass runs in float16, the loss is averaged over many pixels, and each gets a gradient around
1e-9. The smallest positive float16 is 6e-8, so what arrives at the weights is 0: they stop learning
and nothing says so. Scaling the loss before, and dividing afterwards, keeps them.
"""

import tensorflow as tf

images = tf.cast(tf.reshape(tf.range(24.0), (4, 6)) / 24.0, tf.float16)
weights = tf.Variable([0.01, -0.02, 0.015, 0.03, -0.01, 0.005])

with tf.GradientTape() as tape:
    outputs = tf.linalg.matvec(images, tf.cast(weights, tf.float16))
    loss = tf.reduce_sum(tf.cast(outputs, tf.float32) ** 2) / 1e7
gradient = tape.gradient(loss, weights)

print("loss    ", float(loss))
print("gradient", gradient.numpy())

# Silent: the function draws random numbers, so that its ops cannot be repeated.
import tensorflow as tf


@tf.function
def energy(x):
    return tf.reduce_sum(tf.nn.dropout(x, 0.5) ** 2)


x = tf.Variable([0.4, -1.0, 2.0])
with tf.GradientTape() as tape:
    y = energy(x)
print(tape.gradient(y, x).numpy())

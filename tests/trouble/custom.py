import tensorflow as tf


@tf.custom_gradient
def squash(x):
    y = x / (1.0 + tf.abs(x))

    def grad(upstream):
        return 1.0 / (1.0 + tf.abs(x)) ** 2

    return y, grad


w = tf.Variable([0.5, -1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(3.0 * squash(w))
print(tape.gradient(loss, w))

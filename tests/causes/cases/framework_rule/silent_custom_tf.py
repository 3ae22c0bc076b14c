# Silent: it is the user's own rule that is wrong.
import tensorflow as tf


@tf.custom_gradient
def double(x):
    def backward(upstream):
        return 3.0 * upstream  #~ custom-gradient

    return 2.0 * x, backward


x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(double(x) ** 2)
print(tape.gradient(loss, x).numpy())

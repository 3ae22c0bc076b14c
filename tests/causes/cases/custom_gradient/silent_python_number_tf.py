# Silent: a Python number has no dtype of its own, and this one is the derivative.
import tensorflow as tf


@tf.custom_gradient
def double(x):
    def rule(up):
        return 2.0

    return 2.0 * x, rule


x = tf.constant(1.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = double(x)
print(tape.gradient(y, x))

"""A custom gradient with the wrong sign: the loss goes up and the code runs without complaint.

The log-barrier keeps a slack positive. Its derivative is -1/s; the rule below returns +1/s, so the
barrier pulls where it should push. Gradproof compares the rule with the derivative of the forward that
ran beside it, and says that the two differ by exactly the factor -1.
"""

import tensorflow as tf


@tf.custom_gradient
def barrier(slack):
    y = -tf.math.log(slack)

    def backward(upstream):
        return upstream / slack

    return y, backward


position = tf.Variable([0.9, 0.2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(position) + 0.1 * tf.reduce_sum(barrier(1.0 - position))
gradient = tape.gradient(loss, position)

print("loss    ", float(loss))
print("gradient", gradient.numpy())

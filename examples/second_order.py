"""A hand-written rule that is right once, but not when it is differentiated again.

The rule takes its slope out of the framework and puts the number back as a constant. The first
derivative is right to the last digit. A gradient penalty or a Newton step differentiates once more, and
meets a constant where there should be a function: the curvature lacks a term. It is held to the second
derivative of `soft_threshold` itself, so the verdict is `wrong`, and the fix lets the slope move again.
"""

import tensorflow as tf


@tf.custom_gradient
def soft_threshold(x):
    y = tf.math.softplus(x)

    def backward(upstream):
        slope = tf.constant(tf.sigmoid(x).numpy())
        return upstream * slope

    return y, backward


x = tf.Variable(0.7)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = soft_threshold(x) ** 2
    slope = inner.gradient(y, x)
curvature = outer.gradient(slope, x)

print("slope    ", float(slope))
print("curvature", float(curvature))

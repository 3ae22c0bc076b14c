"""The same function, eager and compiled: one returns 0, the other NaN.

Run op by op, TensorFlow's rule for the square root returns 0 when 0 comes in, and so hides that the
dropped branch is infinite. XLA multiplies, and 0 times infinity is NaN. A model that trained well
while it was debugged fails once `jit_compile=True` is switched on.
"""

import tensorflow as tf

present = tf.constant([True, True, False])


@tf.function(jit_compile=True)
def total_spread(variances):
    return tf.reduce_sum(tf.where(present, tf.sqrt(variances), 0.0))


variances = tf.Variable([4.0, 0.25, 0.0])
with tf.GradientTape() as tape:
    total = total_spread(variances)
gradient = tape.gradient(total, variances)

print("spread  ", float(total))
print("gradient", gradient.numpy())

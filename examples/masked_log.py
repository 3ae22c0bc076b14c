"""NaN from a branch that was thrown away: `tf.where` selects values, not computations.

A day's readings with a gap: a missing one is stored as 0 and marked in `seen`. The guard looks right,
and so does the value. But the log of the gap is still computed, and going backward its slope is
infinite: 0 times infinity is NaN. The change that fixes it is run, too.
"""

import tensorflow as tf

readings = tf.Variable([12.0, 0.0, 3.0, 5.0])
seen = tf.constant([True, False, True, True])

with tf.GradientTape() as tape:
    logs = tf.where(seen, tf.math.log(readings), 0.0)
    loss = tf.reduce_sum(logs) / 3.0
gradient = tape.gradient(loss, readings)

print("loss    ", float(loss))
print("gradient", gradient.numpy())

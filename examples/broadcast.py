"""A loss over all pairs instead of one per row: shapes (n, 1) and (n,) were broadcast to (n, n).

Nothing is NaN, nothing fails, the loss even goes down. The gradient is right, too: for the loss that
was written, which compares every prediction with every label. That is why this is a warning and not
an error.
"""

import tensorflow as tf

features = tf.constant([[1.0, 0.5], [2.0, -1.0], [3.0, 0.0], [4.0, 1.5]])
labels = tf.constant([1.2, 1.8, 3.1, 4.4])
weights = tf.Variable([[0.9], [0.1]])

with tf.GradientTape() as tape:
    prediction = features @ weights
    loss = tf.reduce_mean(tf.square(prediction - labels))
gradient = tape.gradient(loss, weights)

print("loss    ", float(loss))
print("gradient", gradient.numpy().ravel())

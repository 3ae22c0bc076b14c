import tensorflow as tf

points = tf.Variable([[100.0, 200.0], [100.5, 200.0], [0.0, 1.0]])
with tf.GradientTape() as tape:
    sizes = tf.reduce_sum(points**2, axis=1)
    squared = sizes[:, None] - 2.0 * points @ tf.transpose(points) + sizes[None, :]
    spread = tf.reduce_sum(tf.sqrt(tf.maximum(squared, 0.0)))  #~ singular-point
print(tape.gradient(spread, points))

# Silent: a training draws other numbers in each step, and is meant to.
import tensorflow as tf

tf.random.set_seed(7)
weights = tf.Variable([0.5, -1.0])
for _ in range(2):
    with tf.GradientTape() as tape:
        noise = tf.random.normal([2])
        loss = tf.reduce_sum((noise * weights) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))

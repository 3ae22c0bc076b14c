# Silent: the random numbers do not reach the target.
import tensorflow as tf

weights = tf.Variable([0.5, -1.0])
with tf.GradientTape() as tape:
    print(tf.random.normal([2]))
    loss = tf.reduce_sum(weights**2)
print(tape.gradient(loss, weights).numpy())

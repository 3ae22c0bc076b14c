# Silent: the numbers were drawn before and are data here.
import tensorflow as tf

weights = tf.Variable([0.5, -1.0])
noise = tf.random.normal([2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum((noise * weights) ** 2)
print(tape.gradient(loss, weights).numpy())

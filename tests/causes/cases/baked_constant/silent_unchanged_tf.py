# Silent: the value is still the one that was read.
import tensorflow as tf

temperature = 0.5


@tf.function
def energy(x):
    return tf.reduce_sum(x * x) / temperature


x = tf.Variable([1.0, -2.0])
with tf.GradientTape() as tape:
    e = energy(x)
print(tape.gradient(e, x).numpy())

# Silent: the number is read while tracing, for a message, and does not occur in the graph.
import tensorflow as tf

step = 17


@tf.function
def energy(x):
    print("traced in step", step)
    return tf.reduce_sum(x * x)


x = tf.Variable([1.0, -2.0])
energy(x)
step = 18
with tf.GradientTape() as tape:
    e = energy(x)
print(tape.gradient(e, x).numpy())

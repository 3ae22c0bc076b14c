import tensorflow as tf

temperature = tf.Variable(1.0)


@tf.function
def energy(x):
    return tf.reduce_sum(x * x) / temperature


x = tf.Variable([1.0, -2.0])
energy(x)
temperature.assign(0.25)
with tf.GradientTape() as tape:
    e = energy(x)
print(tape.gradient(e, x).numpy())

import tensorflow as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    hidden = tf.sin(x)
    y = tf.exp(hidden)
    loss = tf.reduce_sum(y)
print(tape.gradient(loss, x))

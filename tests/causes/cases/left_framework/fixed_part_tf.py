import tensorflow as tf

x = tf.Variable([1.5, 2.5])
with tf.GradientTape() as tape:
    length = tf.norm(x)
    loss = tf.reduce_sum(tf.sin(x)) / length
print(tape.gradient(loss, x))

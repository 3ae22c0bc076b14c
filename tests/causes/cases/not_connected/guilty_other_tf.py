import tensorflow as tf

a = tf.Variable([1.0, 2.0])
b = tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(a * a)
print(tape.gradient(loss, b))  #~ not-connected

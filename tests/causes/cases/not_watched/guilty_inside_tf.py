import tensorflow as tf

a = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    b = a * 2.0
    loss = tf.reduce_sum(b * b)
print(tape.gradient(loss, b))  #~ not-watched

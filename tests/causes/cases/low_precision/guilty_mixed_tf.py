import tensorflow as tf

x = tf.Variable([1.003, 0.501, 2.207])
with tf.GradientTape() as tape:
    half = tf.cast(x, tf.bfloat16)  #~ low-precision
    loss = tf.reduce_sum(tf.cast(half, tf.float32) ** 3)
print(tape.gradient(loss, x))

import tensorflow as tf

x = tf.Variable([1000.3, 1001.5, 1002.5])
with tf.GradientTape() as tape:
    h = tf.cast(x, tf.float16)  #~ low-precision
    spread = tf.reduce_sum((h - tf.reduce_mean(h)) ** 2)
print(tape.gradient(spread, x))

import tensorflow as tf

x = tf.constant(2.0, dtype=tf.float64)
with tf.GradientTape() as tape:
    y = tf.sin(x)
dy_dx = tape.gradient(y, x)  #~ not-watched
print(dy_dx)

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    z = tf.exp(x)
    y = tf.sin(z)
print(tape.gradient(y, x))

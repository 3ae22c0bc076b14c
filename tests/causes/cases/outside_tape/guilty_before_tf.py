import tensorflow as tf

x = tf.Variable(2.0)
z = tf.exp(x)  #~ outside-tape
with tf.GradientTape() as tape:
    y = tf.sin(z)
print(tape.gradient(y, x))

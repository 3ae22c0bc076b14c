import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = tf.stop_gradient(x) * 2.0  #~ stop-gradient
print(tape.gradient(y, x))

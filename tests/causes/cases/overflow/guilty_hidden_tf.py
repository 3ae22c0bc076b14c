import tensorflow as tf

x = tf.constant([[1.0, -2.0], [3.0, 1.0], [2.0, 5.0]])
kernel = tf.Variable([[1e20, -1e20], [2e20, 1.5e20]])
last = tf.Variable([[1e20], [2e20]])
with tf.GradientTape() as tape:
    hidden = tf.nn.relu(x @ kernel)
    loss = tf.reduce_mean((hidden @ last) ** 2)  #~ overflow
steps = tape.gradient(loss, [kernel, last])

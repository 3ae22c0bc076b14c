import tensorflow as tf

x = tf.Variable([0.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.relu(x))  #~ kink
print(tape.gradient(loss, x))

import tensorflow as tf

x = tf.Variable([0.3, -1.7])
with tf.GradientTape() as tape:
    votes = tf.sign(x)  #~ discrete-op
    loss = tf.reduce_sum((votes - 1.0) ** 2)
print(tape.gradient(loss, x))

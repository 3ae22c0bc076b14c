import tensorflow as tf

x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x * 1e10 + 1.0
    z = y - 1e10  #~ cancellation
    loss = z * z
print(tape.gradient(loss, x))

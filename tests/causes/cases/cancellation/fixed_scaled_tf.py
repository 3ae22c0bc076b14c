import tensorflow as tf

x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    z = (x - 1) * 1e10 + 1.0
    loss = z * z
print(tape.gradient(loss, x))

import tensorflow as tf

x = tf.Variable([4.0, 0.0])
with tf.GradientTape() as tape:
    logs = tf.where(x > 1e-6, tf.math.log(x), 0.0)  #~ masked-branch
    loss = tf.reduce_sum(logs)
print(tape.gradient(loss, x))

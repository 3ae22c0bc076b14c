import tensorflow as tf

x = tf.Variable([0.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.math.log(x))  #~ invalid-domain
print(tape.gradient(loss, x))

import tensorflow as tf

z = tf.Variable([-20.5, -8.5, -2.5, 3.0])
with tf.GradientTape() as tape:
    total = tf.reduce_sum(tf.math.digamma(z))  #~ framework-rule
print(tape.gradient(total, z).numpy())

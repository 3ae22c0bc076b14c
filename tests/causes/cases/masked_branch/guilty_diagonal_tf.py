import tensorflow as tf

a = tf.Variable([[2.0, 0.5], [0.5, 1.0]])
with tf.GradientTape() as tape:
    factor = tf.linalg.cholesky(a)
    loss = tf.reduce_sum(tf.linalg.diag_part(tf.math.log(factor)))  #~ masked-branch
print(tape.gradient(loss, a))

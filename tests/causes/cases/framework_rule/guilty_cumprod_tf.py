import tensorflow as tf

survival = tf.Variable([2.0, 0.0, 3.0])
with tf.GradientTape() as tape:
    total = tf.reduce_sum(tf.math.cumprod(survival))  #~ framework-rule
print(tape.gradient(total, survival))

# Silent: the zero is the exponent of the power itself, and nothing is masked.
import tensorflow as tf

x = tf.Variable([0.0, 2.0])
exponents = tf.constant([0.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.pow(x, exponents))  #~ singular-point
print(tape.gradient(loss, x))

import numpy as np
import tensorflow as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    hidden = tf.sin(x)
    y = tf.constant(np.exp(hidden.numpy()))  #~ left-framework
    loss = tf.reduce_sum(y)
print(tape.gradient(loss, x))

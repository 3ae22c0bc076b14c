import numpy as np
import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = tf.constant(np.sin(x.numpy())) * 3.0  #~ left-framework
print(tape.gradient(loss, x))

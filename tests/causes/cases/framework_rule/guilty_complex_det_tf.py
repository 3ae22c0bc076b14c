import tensorflow as tf

mixing = tf.Variable([[1.0, 2.0], [3.0, 5.0]])
with tf.GradientTape() as tape:
    coupled = tf.complex(mixing, tf.transpose(mixing))
    volume = tf.abs(tf.linalg.det(coupled))  #~ framework-rule
print(tape.gradient(volume, mixing))

import tensorflow as tf

ratio = tf.Variable(1e-9)
with tf.GradientTape() as tape:
    distance = tf.math.log1p(ratio + tf.sqrt(ratio * (ratio + 2.0)))
print(tape.gradient(distance, ratio))

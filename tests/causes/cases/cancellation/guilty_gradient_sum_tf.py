import tensorflow as tf

b = tf.Variable(2e4)
with tf.GradientTape() as tape:
    root = tf.sqrt(b * b - 4.0)
    smaller = -b + root  #~ cancellation
print(tape.gradient(smaller, b))

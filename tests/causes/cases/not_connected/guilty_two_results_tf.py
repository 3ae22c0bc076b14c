import tensorflow as tf


@tf.function
def both(w):
    h = w * w
    return h, h * 3.0


w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    h, y = both(w)
print(tape.gradient(y, h))  #~ not-connected

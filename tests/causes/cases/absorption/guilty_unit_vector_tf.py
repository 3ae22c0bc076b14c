import tensorflow as tf

point = tf.Variable([1.0, 1e-5])
axis = tf.constant([1.0, 0.0])
with tf.GradientTape() as tape:
    squares = tf.reduce_sum(point * point)  #~ absorption
    cosine = tf.reduce_sum(point / tf.sqrt(squares) * axis)
    angle = tf.acos(cosine)
print(tape.gradient(angle, point))

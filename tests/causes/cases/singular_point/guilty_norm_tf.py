import tensorflow as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    distance = tf.norm(x - [1.0, 2.0])  #~ singular-point
print(tape.gradient(distance, x))

import tensorflow as tf

ratio = tf.Variable(1e-9)
with tf.GradientTape() as tape:
    argument = 1.0 + ratio  #~ absorption
    distance = tf.acosh(argument)
print(tape.gradient(distance, ratio))

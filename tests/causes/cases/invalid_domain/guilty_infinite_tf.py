import tensorflow as tf

weight = tf.Variable(0.1)
rate = tf.constant(0.0)
with tf.GradientTape() as tape:
    surprise = tf.math.xlogy(weight, rate)  #~ invalid-domain
print(tape.gradient(surprise, weight))

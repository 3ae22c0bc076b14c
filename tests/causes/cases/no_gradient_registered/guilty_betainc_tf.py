import tensorflow as tf

a = tf.Variable(2.0)
x = tf.Variable(0.4)
with tf.GradientTape() as tape:
    cdf = tf.math.betainc(a, 3.0, x)  #~ no-gradient-registered
print(tape.gradient(cdf, [a, x]))

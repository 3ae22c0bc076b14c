import tensorflow as tf

rate = tf.Variable(1e-38)
with tf.GradientTape() as tape:
    score = tf.math.log(rate)  #~ underflow
print(tape.gradient(score, rate))

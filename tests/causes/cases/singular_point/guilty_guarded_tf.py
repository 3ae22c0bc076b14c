import tensorflow as tf

total = tf.constant(2.0)
count = tf.Variable(0.0)
with tf.GradientTape() as tape:
    mean = tf.math.divide_no_nan(total, count)  #~ singular-point
print(tape.gradient(mean, count))

import tensorflow as tf

x = tf.Variable(3.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.where(x > 2.0, x**3, tf.sqrt(2.0 - x))  #~ masked-branch
    slope = inner.gradient(y, x)
print(slope, outer.gradient(slope, x))

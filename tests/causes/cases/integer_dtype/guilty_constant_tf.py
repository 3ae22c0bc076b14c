import tensorflow as tf

x = tf.constant(2)  #~ integer-dtype
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x))

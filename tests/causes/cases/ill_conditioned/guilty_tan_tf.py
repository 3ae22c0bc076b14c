import tensorflow as tf

x = tf.Variable(0.7)
with tf.GradientTape() as tape:
    angle = x + 0.87079036
    loss = tf.tan(angle)  #~ ill-conditioned
print(tape.gradient(loss, x))

import tensorflow as tf

w = tf.Variable(1.0)
for step in range(2):
    with tf.GradientTape() as tape:
        loss = (w * 3.0 - 1.0) ** 2
    gradient = tape.gradient(loss, w)
    if step == 0:
        w = w - 0.1 * gradient  #~ reassigned-variable

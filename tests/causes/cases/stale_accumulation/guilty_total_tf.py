import tensorflow as tf

w = tf.Variable(0.9)
total = 0.0
with tf.GradientTape(persistent=True) as tape:
    for step in range(3):
        total = total + (w * step - 1.0) ** 2
        gradient = tape.gradient(total, w)  #~ stale-accumulation

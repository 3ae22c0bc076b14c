import tensorflow as tf

w = tf.Variable([1.0, 2.0])
b = tf.Variable(0.5)
x = tf.constant([3.0, -1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(w * x) + b
    loss = y**2
dw = tape.gradient(loss, w)
db = tape.gradient(loss, b)
print(dw, db)

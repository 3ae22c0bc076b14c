import tensorflow as tf

w = tf.Variable([1.0, 2.0])
data = tf.constant([1.0, float("nan")])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((w * data - 1.0) ** 2)  #~ invalid-domain
print(tape.gradient(loss, w))

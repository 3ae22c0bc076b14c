import tensorflow as tf

predicted = tf.Variable([[1.0], [2.0], [3.0]])
labels = tf.constant([1.0, 2.0, 4.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((predicted[:, 0] - labels) ** 2)
print(tape.gradient(loss, predicted))

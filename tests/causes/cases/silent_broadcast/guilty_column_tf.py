import tensorflow as tf

predicted = tf.Variable([[1.0], [2.0], [3.0]])
labels = tf.constant([1.0, 2.0, 4.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((predicted - labels) ** 2)  #~ silent-broadcast
print(tape.gradient(loss, predicted))

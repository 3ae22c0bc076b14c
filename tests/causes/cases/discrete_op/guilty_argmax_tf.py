import tensorflow as tf

features = tf.constant([[1.0, 0.2], [0.3, 0.9], [0.8, 0.7]])
labels = tf.constant([0, 1, 1], dtype=tf.int64)
weights = tf.Variable([[0.5, -0.4], [-0.3, 0.6]])
with tf.GradientTape() as tape:
    predicted = tf.argmax(features @ weights, axis=1)  #~ discrete-op
    hits = tf.cast(tf.equal(predicted, labels), tf.float32)
    loss = 1.0 - tf.reduce_mean(hits)
print(tape.gradient(loss, weights))

import tensorflow as tf

logits = tf.Variable([[0.5, 1.0, -0.5]])
counts = tf.constant([[2.0, 0.0, 1.0]])
with tf.GradientTape() as tape:
    loss = -tf.reduce_sum(counts * tf.nn.log_softmax(logits))
print(tape.gradient(loss, logits))

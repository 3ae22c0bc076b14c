import tensorflow as tf

logits = tf.Variable([[0.5, 1.0, -0.5]])
counts = tf.constant([[2.0, 0.0, 1.0]])
with tf.GradientTape() as tape:
    loss = tf.nn.softmax_cross_entropy_with_logits(counts, logits)  #~ framework-rule
print(tape.gradient(loss, logits))

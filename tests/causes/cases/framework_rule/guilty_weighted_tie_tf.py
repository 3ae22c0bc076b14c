import tensorflow as tf

logits = tf.Variable([0.0, 1.5])
with tf.GradientTape() as tape:
    loss = tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], logits, pos_weight=2.0)  #~ framework-rule
print(tape.gradient(loss, logits))

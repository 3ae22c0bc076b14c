import tensorflow as tf

logits = tf.Variable([0.0, 120.0, 3.0])
with tf.GradientTape() as tape:
    probs = tf.nn.softmax(logits)  #~ underflow
    loss = -tf.math.log(probs[0])
print(tape.gradient(loss, logits))

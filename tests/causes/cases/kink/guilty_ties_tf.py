import tensorflow as tf

scores = tf.Variable([0.6, 0.6, 0.3])
with tf.GradientTape() as tape:
    best = tf.reduce_max(scores)  #~ kink
print(tape.gradient(best, scores))

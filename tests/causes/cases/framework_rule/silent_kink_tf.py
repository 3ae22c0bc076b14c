# Silent: two equal numbers are compared and the sides differ, so no rule could be right.
import tensorflow as tf

scores = tf.Variable([0.6, 0.6, 0.3])
with tf.GradientTape() as tape:
    best = tf.reduce_max(scores)  #~ kink
print(tape.gradient(best, scores).numpy())

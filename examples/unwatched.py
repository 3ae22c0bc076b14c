"""Gradient None: the tape was never told to watch the input.

Which pixel made the model decide as it did? The gradient of the score by the image would say so. But
the image is a constant, and a tape records only what it watches: trainable variables, and whatever was
passed to `tape.watch`. None does not mean zero.
"""

import tensorflow as tf

weights = tf.Variable([[0.4, -0.2, 0.1], [0.3, 0.8, -0.5]])
image = tf.constant([0.9, 0.1, 0.4])

with tf.GradientTape() as tape:
    logits = tf.linalg.matvec(weights, image)
    score = tf.nn.softmax(logits)[1]
saliency = tape.gradient(score, image)

print("score   ", float(score))
print("saliency", saliency)

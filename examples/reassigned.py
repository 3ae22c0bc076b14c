"""Gradient None from the second step on: the variable's name was given to a tensor.

`w = w - rate * gradient` does not change the variable. It computes a new tensor and lets the name `w`
stand for it; no tape watches that tensor. The first step works, so the mistake shows only later.
`w.assign_sub(rate * gradient)` changes the variable itself.
"""

import tensorflow as tf

hours = tf.constant([1.0, 2.0, 3.0, 4.0])
marks = tf.constant([2.1, 3.9, 6.2, 7.8])
w = tf.Variable(0.5)
rate = 0.01

for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * hours - marks) ** 2)
    gradient = tape.gradient(loss, w)
    print("step", step, "loss", float(loss), "gradient", gradient)
    if gradient is None:
        break
    w = w - rate * gradient

"""Gradient None: the computation ran before the tape was there.

A tape knows what happens while it is open. Here the distances are prepared outside, in the belief that
only the loss needs recording; the path from the loss to the positions is broken at the line above the
`with`. Runs without any framework, on gradproof's own tape.
"""

import numpy as np

import gradproof as gp

anchors = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
measured = np.array([5.0, 8.1, 6.7])
position = gp.Variable([3.0, 4.0])

distances = np.sqrt(np.sum((anchors - position) ** 2, axis=1))
with gp.GradientTape() as tape:
    loss = np.sum((distances - measured) ** 2)
gradient = tape.gradient(loss, position)

print("loss    ", loss)
print("gradient", gradient)

"""A recurrent loop whose gradient grows with every step back in time.

The state of a linear recurrence over sixty steps. Going backward, each step multiplies by the same
matrix, whose largest eigenvalue is above 1; after sixty steps the gradient is astronomical. It is the
true gradient, so the verdict is `correct`, with a warning: a step along it ruins the weights.
"""

import numpy as np

import gradproof as gp

rng = np.random.default_rng(7)
inputs = rng.normal(size=(60, 3))
recurrent = gp.Variable(1.6 * np.eye(3) + 0.2 * rng.normal(size=(3, 3)))

with gp.GradientTape() as tape:
    state = np.zeros(3)
    for row in inputs:
        state = recurrent @ state + row
    loss = np.sum(state**2)
gradient = tape.gradient(loss, recurrent)

print("loss             ", loss)
print("largest gradient ", np.max(np.abs(gradient)))

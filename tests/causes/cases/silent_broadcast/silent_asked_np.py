# Silent: the line itself adds an axis, so all pairs are wanted.
import numpy as np

import gradproof as gp

points = np.array([0.1, 0.2, 0.7])
w = gp.Variable([0.5, -0.25, 1.5])
with gp.GradientTape() as tape:
    loss = np.sum((w[:, None] - points) ** 2)
print(tape.gradient(loss, w))

# Silent: both sides are computed from what is trained, as in a table of distances.
import numpy as np

import gradproof as gp

w = gp.Variable([0.5, -0.25, 1.5])
with gp.GradientTape() as tape:
    column = np.reshape(w, (3, 1))
    loss = np.sum((column - w) ** 2)
print(tape.gradient(loss, w))

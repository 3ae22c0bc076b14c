# Silent: the function is steep, and the gradient right to its dtype.
import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(1.2))
with gp.GradientTape() as tape:
    angle = x + np.float32(0.3)
    loss = np.tan(angle)
print(tape.gradient(loss, x))

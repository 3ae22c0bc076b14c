# Silent: the gradient is truly zero.
import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 0.0])
with gp.GradientTape() as tape:
    loss = np.sum(x * x)
print(tape.gradient(loss, x))

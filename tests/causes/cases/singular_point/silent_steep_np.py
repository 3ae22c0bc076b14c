# Silent: the slope is large, and finite.
import numpy as np

import gradproof as gp

x = gp.Variable([1e-20, 4.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.sqrt(x))
print(tape.gradient(loss, x))

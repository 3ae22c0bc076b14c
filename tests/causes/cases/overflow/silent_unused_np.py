# Silent: the infinity does not reach the target.
import numpy as np

import gradproof as gp

x = gp.Variable(np.array([100.0, 2.0], np.float32))
with gp.GradientTape() as tape:
    spare = np.exp(x)
    loss = np.sum(np.sin(x))
print(spare, tape.gradient(loss, x))

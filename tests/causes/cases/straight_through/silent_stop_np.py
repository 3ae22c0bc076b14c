# Silent: written with stop_gradient, the program itself says what is a constant.
import numpy as np

import gradproof as gp

x = gp.Variable([0.3, 1.8])
with gp.GradientTape() as tape:
    loss = np.sum((x + gp.stop_gradient(np.sign(x) - x)) * 3.0)
print(tape.gradient(loss, x))

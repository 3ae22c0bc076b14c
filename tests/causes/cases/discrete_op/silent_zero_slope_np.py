# Silent: the gradient is zero at this point, without a discrete op.
import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 0.0])
with gp.GradientTape() as tape:
    loss = np.sum(x**3)
print(tape.gradient(loss, x))

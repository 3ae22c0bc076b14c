# Silent: exact arithmetic takes the same branch.
import numpy as np

import gradproof as gp

x = gp.Variable(1.0)
with gp.GradientTape() as tape:
    is_large = (x + 1e10) - 1e10 > 0.5
    loss = np.where(is_large, 3.0 * x, 5.0 * x)
print(tape.gradient(loss, x))

# Silent: what is compared does not depend on the source.
import numpy as np

import gradproof as gp

limit = np.array([0.0, 1.0])
x = gp.Variable([0.5, 3.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.where(limit > 0.0, x, 2.0 * x))
print(tape.gradient(loss, x))

# Silent: the comparison flips, but both branches have the same gradient.
import numpy as np

import gradproof as gp

x = gp.Variable(1.0)
with gp.GradientTape() as tape:
    is_large = (x + 1e16) - 1e16 > 0.5
    loss = np.where(is_large, 3.0 * x, 3.0 * x + 1.0)
print(tape.gradient(loss, x))

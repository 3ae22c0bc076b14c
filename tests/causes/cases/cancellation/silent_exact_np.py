# Silent: the operands are exact, so nothing was rounded before the subtraction.
import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(3.0))
with gp.GradientTape() as tape:
    q = x - 2.9999998
    loss = np.log(q)
print(tape.gradient(loss, x))

# Silent: the numbers fit into float16, and so does the gradient.
import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1.25, 2.5, 3.75], np.float32))
with gp.GradientTape() as tape:
    h = x.astype(np.float16)
    loss = np.sum(h * h)
print(tape.gradient(loss, x))

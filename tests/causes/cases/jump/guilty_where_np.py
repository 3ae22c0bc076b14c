import numpy as np

import gradproof as gp

x = gp.Variable(1.0)
with gp.GradientTape() as tape:
    gate = np.where(x >= 1.0, 2.0 * x, 0.0)  #~ jump
print(tape.gradient(gate, x))

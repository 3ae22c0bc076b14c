import numpy as np

import gradproof as gp

x = gp.Variable(1.0)
with gp.GradientTape() as tape:
    gate = 2.0 * x / (1.0 + np.exp(-(x - 1.0) / 0.1))
print(tape.gradient(gate, x))

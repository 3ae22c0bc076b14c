import numpy as np

import gradproof as gp

x = gp.Variable([0.3, 1.7])
with gp.GradientTape() as tape:
    levels = x - np.sin(2.0 * np.pi * x) / (2.0 * np.pi)
    loss = np.sum(levels**2)
print(tape.gradient(loss, x))

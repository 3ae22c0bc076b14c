import numpy as np

import gradproof as gp

x = gp.Variable(1.0)
with gp.GradientTape() as tape:
    density = np.where(x < 1.0, -np.inf, -x)  #~ jump
print(tape.gradient(density, x))

import numpy as np

import gradproof as gp

x = gp.Variable([0.1, 3.0, 6.5])
with gp.GradientTape() as tape:
    loss = np.sum(x**2)
print(tape.gradient(loss, x))

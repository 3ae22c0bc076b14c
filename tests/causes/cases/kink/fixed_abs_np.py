import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 3.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.sqrt(x * x + 1e-4))
print(tape.gradient(loss, x))

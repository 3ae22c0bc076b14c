import numpy as np

import gradproof as gp

x = gp.Variable([0.3, 1.7])
with gp.GradientTape() as tape:
    levels = np.floor(x)  #~ discrete-op
    loss = np.sum(levels**2)
print(tape.gradient(loss, x))

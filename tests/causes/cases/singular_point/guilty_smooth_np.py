import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 0.0])
with gp.GradientTape() as tape:
    norm = np.sqrt(np.sum(x * x))  #~ singular-point
    loss = norm**2
print(tape.gradient(loss, x))

import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 4.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.sqrt(x))  #~ singular-point
print(tape.gradient(loss, x))

import numpy as np

import gradproof as gp

x = gp.Variable([0.0, 3.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.abs(x))  #~ kink
print(tape.gradient(loss, x))

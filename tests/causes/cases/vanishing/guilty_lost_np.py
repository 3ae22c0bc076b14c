import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(3.0))
with gp.GradientTape() as tape:
    loss = np.exp(-50.0 * x)
print(tape.gradient(loss, x))  #~ vanishing

import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(1.0))
with gp.GradientTape() as tape:
    y = x * 1e10 + 1.0
    z = y - 1e10  #~ cancellation
    loss = z * z
print(tape.gradient(loss, x))

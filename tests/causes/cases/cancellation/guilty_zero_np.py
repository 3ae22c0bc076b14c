import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(40.0))
with gp.GradientTape() as tape:
    p = 1.0 / (1.0 + np.exp(-x))
    q = 1.0 - p  #~ cancellation
    loss = np.log(q)
print(tape.gradient(loss, x))

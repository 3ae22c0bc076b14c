import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(40.0))
with gp.GradientTape() as tape:
    q = 1.0 / (1.0 + np.exp(x))
    loss = np.log(q)
print(tape.gradient(loss, x))

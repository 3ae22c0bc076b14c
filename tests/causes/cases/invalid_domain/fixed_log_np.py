import numpy as np

import gradproof as gp

x = gp.Variable([-0.5, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.log(x * x + 0.1))
print(tape.gradient(loss, x))

import numpy as np

import gradproof as gp

x = gp.Variable([0.1, 3.0, 6.5])
with gp.GradientTape() as tape:
    loss = np.sum(np.unwrap(x) ** 2)  #~ no-gradient-registered
print(repr(tape.gradient(loss, x)))

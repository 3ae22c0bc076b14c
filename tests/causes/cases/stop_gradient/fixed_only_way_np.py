import numpy as np

import gradproof as gp

x = gp.Variable([1.0, 2.0])
with gp.GradientTape() as tape:
    target = x**2
    loss = np.sum(target)
print(tape.gradient(loss, x))

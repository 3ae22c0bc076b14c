import numpy as np

import gradproof as gp

x = gp.Variable([1.0, 2.0, 3.0])
with gp.GradientTape() as tape:
    y = np.sum(x * x)
print(tape.gradient(y, x))

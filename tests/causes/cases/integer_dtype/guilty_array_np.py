import numpy as np

import gradproof as gp

x = gp.Variable([1, 2, 3])  #~ integer-dtype
with gp.GradientTape() as tape:
    y = np.sum(x * x)
print(tape.gradient(y, x))

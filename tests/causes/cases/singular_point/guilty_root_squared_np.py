import numpy as np

import gradproof as gp

x = gp.Variable(0.0)
with gp.GradientTape() as tape:
    root = np.sqrt(x)  #~ singular-point
    loss = root**2
print(tape.gradient(loss, x))

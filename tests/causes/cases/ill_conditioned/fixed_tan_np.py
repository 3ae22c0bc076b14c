import numpy as np

import gradproof as gp

x = gp.Variable(0.7)
with gp.GradientTape() as tape:
    angle = x + 0.87079036
    loss = np.tan(angle)
print(tape.gradient(loss, x))

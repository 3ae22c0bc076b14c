import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(0.7))
with gp.GradientTape() as tape:
    angle = x + np.float32(0.87079036)
    loss = np.tan(angle)  #~ ill-conditioned
print(tape.gradient(loss, x))

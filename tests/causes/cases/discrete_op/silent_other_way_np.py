# Silent: another way from x to the loss is smooth.
import numpy as np

import gradproof as gp

x = gp.Variable([0.3, 1.7])
with gp.GradientTape() as tape:
    loss = np.sum(x * np.floor(x))
print(tape.gradient(loss, x))

# Silent: the zeros are zeros in exact arithmetic too.
import numpy as np

import gradproof as gp

x = gp.Variable(np.array([0.0, 3.0], np.float32))
with gp.GradientTape() as tape:
    loss = np.sum(x * x * x)
print(tape.gradient(loss, x))

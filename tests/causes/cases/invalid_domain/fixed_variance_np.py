import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1000.1, 1000.19, 1000.03], np.float32))
with gp.GradientTape() as tape:
    centred = x - np.mean(x)
    spread = np.sqrt(np.mean(centred * centred))
print(tape.gradient(spread, x))

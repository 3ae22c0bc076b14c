import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1000.3, 1001.5, 1002.5], np.float32))
with gp.GradientTape() as tape:
    spread = np.sum((x - np.mean(x)) ** 2)
print(tape.gradient(spread, x))

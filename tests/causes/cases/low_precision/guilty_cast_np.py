import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1000.3, 1001.5, 1002.5], np.float32))
with gp.GradientTape() as tape:
    h = x.astype(np.float16)  #~ low-precision
    spread = np.sum((h - np.mean(h)) ** 2)
print(tape.gradient(spread, x))

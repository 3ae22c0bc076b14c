import numpy as np

import gradproof as gp

d = gp.Variable(np.array([2.0, 0.0]))
with gp.GradientTape() as tape:
    inverse = np.where(d != 0.0, 1.0 / d, 0.0)  #~ masked-branch
    total = np.sum(inverse)
print(tape.gradient(total, d))

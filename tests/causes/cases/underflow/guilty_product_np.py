import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1e-30, 2e-30], np.float32))
with gp.GradientTape() as tape:
    squares = x * x  #~ underflow
    loss = 1e38 * np.sum(squares * x)
print(tape.gradient(loss, x))

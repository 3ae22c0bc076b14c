import numpy as np

import gradproof as gp

x = gp.Variable(np.array([3e25, 4e25], np.float32))
with gp.GradientTape() as tape:
    squares = x * x  #~ overflow
    length = np.sqrt(np.sum(squares))
print(tape.gradient(length, x))

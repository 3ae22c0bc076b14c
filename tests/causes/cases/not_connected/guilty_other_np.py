import numpy as np

import gradproof as gp

a = gp.Variable([1.0, 2.0])
b = gp.Variable([3.0, 4.0])
with gp.GradientTape() as tape:
    loss = np.sum(a * a)  #~ not-connected
print(repr(tape.gradient(loss, b)))

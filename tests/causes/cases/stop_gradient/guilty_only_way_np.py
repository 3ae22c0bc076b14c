import numpy as np

import gradproof as gp

x = gp.Variable([1.0, 2.0])
with gp.GradientTape() as tape:
    target = gp.stop_gradient(x**2)  #~ stop-gradient
    loss = np.sum(target)
print(repr(tape.gradient(loss, x)))

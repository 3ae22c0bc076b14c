# Silent: there is a path, and it broke at a known place.
import numpy as np

import gradproof as gp

a = gp.Variable([1.0, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(gp.stop_gradient(a) ** 2)  #~ stop-gradient
print(repr(tape.gradient(loss, a)))

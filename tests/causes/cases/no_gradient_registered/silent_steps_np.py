# Silent: the op is constant between its jumps, so there is no useful derivative to be had.
import numpy as np

import gradproof as gp

x = gp.Variable([0.1, 3.0, 6.5])
with gp.GradientTape() as tape:
    loss = np.sum(np.argsort(x))  #~ discrete-op
print(repr(tape.gradient(loss, x)))

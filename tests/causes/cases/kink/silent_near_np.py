# Silent: the kink is near, and not here: that is a note.
import numpy as np

import gradproof as gp

x = gp.Variable([1.0, 1.0 + 2.0**-52])
with gp.GradientTape() as tape:
    loss = np.maximum(x[0], x[1])
print(tape.gradient(loss, x))

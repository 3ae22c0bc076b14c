# Silent: the source is real; an op on the way makes integers of it.
import numpy as np

import gradproof as gp

x = gp.Variable([1.5, 2.5, 3.0])
with gp.GradientTape() as tape:
    y = np.sum(x > 2.0)  #~ discrete-op
print(tape.gradient(y, x))

# Silent: the argument is tiny, and inside the domain.
import numpy as np

import gradproof as gp

x = gp.Variable([1e-300, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.log(x))
print(tape.gradient(loss, x))

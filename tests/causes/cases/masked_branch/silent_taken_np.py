# Silent: the branch with the infinite slope is the one that was taken.
import numpy as np

import gradproof as gp

x = gp.Variable([4.0, 0.0])
with gp.GradientTape() as tape:
    roots = np.where(x < 5.0, np.sqrt(x), 0.0)  #~ singular-point
    loss = np.sum(roots)
print(tape.gradient(loss, x))

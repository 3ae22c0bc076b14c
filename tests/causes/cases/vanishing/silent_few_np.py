# Silent: the shrinking of eight steps is moderate.
import numpy as np

import gradproof as gp

h0 = gp.Variable(0.7)
with gp.GradientTape() as tape:
    h = h0
    for _ in range(8):
        h = np.tanh(0.5 * h)
print(tape.gradient(h, h0))

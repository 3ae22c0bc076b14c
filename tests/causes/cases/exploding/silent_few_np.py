# Silent: the growth of ten steps is moderate.
import numpy as np

import gradproof as gp

weight = gp.Variable(3.0)
with gp.GradientTape() as tape:
    state = 1.0
    for _ in range(10):
        state = weight * state
print(tape.gradient(state, weight))

# Silent: each step looks back by three, however many there are.
import numpy as np

import gradproof as gp

w = gp.Variable(0.9)
for _ in range(10):
    with gp.GradientTape() as tape:
        state = 1.0
        for _ in range(3):
            state = np.tanh(w * state)
    gradient = tape.gradient(state, w)

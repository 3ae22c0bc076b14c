import numpy as np

import gradproof as gp

w = gp.Variable(0.9)
state = 1.0
with gp.GradientTape(persistent=True) as tape:
    for _ in range(10):
        state = np.tanh(w * state)
        target = state * 2.0
        gradient = tape.gradient(target, w)  #~ graph-grows

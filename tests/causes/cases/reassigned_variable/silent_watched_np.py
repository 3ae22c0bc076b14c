# Silent: the new array is watched, so the tape follows it.
import numpy as np

import gradproof as gp

w = gp.Variable(1.0)
w = w - 0.5
with gp.GradientTape() as tape:
    w = tape.watch(w)
    loss = (w * 3.0 - 1.0) ** 2
print(tape.gradient(loss, w))

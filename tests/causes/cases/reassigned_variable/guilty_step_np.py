import numpy as np

import gradproof as gp

w = gp.Variable(1.0)
for _ in range(2):
    with gp.GradientTape() as tape:
        loss = (w * 3.0 - 1.0) ** 2
    gradient = tape.gradient(loss, w)
    if not isinstance(w, gp.Variable):
        break
    w = w - 0.1 * gradient  #~ reassigned-variable

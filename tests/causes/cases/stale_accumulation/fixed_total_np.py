import numpy as np

import gradproof as gp

w = gp.Variable(0.9)
for step in range(3):
    with gp.GradientTape() as tape:
        loss = (w * step - 1.0) ** 2
    gradient = tape.gradient(loss, w)

import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    y = x * x
    z = y + 1.0
print(tape.gradient(z, x))

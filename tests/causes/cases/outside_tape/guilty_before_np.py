import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
y = x * x  #~ outside-tape
with gp.GradientTape() as tape:
    z = y + 1.0
print(tape.gradient(z, x))

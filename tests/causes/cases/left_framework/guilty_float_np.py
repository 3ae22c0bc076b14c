import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    slope = float(np.sin(x))  #~ left-framework
    y = slope * 3.0
print(tape.gradient(y, x))

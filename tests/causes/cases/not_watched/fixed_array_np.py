import numpy as np

import gradproof as gp

x = gp.Variable(2.0, trainable=False)
with gp.GradientTape() as tape:
    tape.watch(x)
    y = np.sin(x)
print(tape.gradient(y, x))

import numpy as np

import gradproof as gp

x = gp.Variable(2.0, trainable=False)  #~ not-watched
with gp.GradientTape() as tape:
    y = np.sin(x)
print(tape.gradient(y, x))

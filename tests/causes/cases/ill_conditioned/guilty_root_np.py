import numpy as np

import gradproof as gp

x = gp.Variable(np.float32(1.259922))
with gp.GradientTape() as tape:
    excess = x * x * x - np.float32(2.0)  #~ ill-conditioned
    loss = np.sqrt(excess)
print(tape.gradient(loss, x))

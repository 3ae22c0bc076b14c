import numpy as np

import gradproof as gp

x = gp.Variable([0.3, 1.7])
with gp.GradientTape() as tape:
    hits = np.where(x > 1.0, 1.0, 0.0)  #~ discrete-op
    loss = 1.0 - np.mean(hits)
print(tape.gradient(loss, x, unconnected_gradients="zero"))

import numpy as np

import gradproof as gp

weight = gp.Variable([0.31, -1.4, 0.77])
with gp.GradientTape() as tape:
    kept = np.clip(weight, -1.0, 1.0)
    steps = np.round(kept * 7.0) / 7.0  #~ discrete-op
    loss = np.sum((steps - 0.5) ** 2)
print(tape.gradient(loss, weight))

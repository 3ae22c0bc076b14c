import numpy as np

import gradproof as gp

x = gp.Variable([4.0, 0.0])
with gp.GradientTape() as tape:
    safe = np.where(x > 1e-6, x, 1.0)
    logs = np.where(x > 1e-6, np.log(safe), 0.0)
    loss = np.sum(logs)
print(tape.gradient(loss, x))

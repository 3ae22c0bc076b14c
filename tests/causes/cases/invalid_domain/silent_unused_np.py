# Silent: the target does not depend on the logarithm.
import numpy as np

import gradproof as gp

x = gp.Variable([-0.5, 2.0])
with gp.GradientTape() as tape:
    logs = np.log(x)
    loss = np.sum(x * x)
print(logs, tape.gradient(loss, x))

# Silent: another path is open, and the constant is what the user asked for.
import numpy as np

import gradproof as gp

theta = gp.Variable([0.3, -0.2])
with gp.GradientTape() as tape:
    value = np.sum(theta * np.array([1.0, 0.5]))
    bootstrap = gp.stop_gradient(0.7 + 0.9 * np.sum(theta * np.array([0.2, 1.5])))
    loss = 0.5 * (bootstrap - value) ** 2
print(tape.gradient(loss, theta))

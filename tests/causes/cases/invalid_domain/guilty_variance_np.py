import numpy as np

import gradproof as gp

x = gp.Variable(np.array([1000.1, 1000.19, 1000.03], np.float32))
with gp.GradientTape() as tape:
    variance = np.mean(x * x) - np.mean(x) ** 2
    spread = np.sqrt(variance)  #~ invalid-domain
print(variance, tape.gradient(spread, x))

import numpy as np

import gradproof as gp

start = np.array([1.0, 0.0], np.float32)
end = gp.Variable(np.array([1.0, 0.0], np.float32))
with gp.GradientTape() as tape:
    angle = np.arccos(np.sum(start * end))
    share = np.sin(0.3 * angle) / np.sin(angle)  #~ invalid-domain
    loss = np.sum((share * end) ** 2)
print(tape.gradient(loss, end))

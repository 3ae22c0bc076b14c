import numpy as np

import gradproof as gp

logits = gp.Variable(np.array([0.0, 120.0, 3.0], np.float32))
with gp.GradientTape() as tape:
    shifted = logits - 120.0
    loss = np.log(np.sum(np.exp(shifted))) - shifted[0]
print(tape.gradient(loss, logits))

import numpy as np

import gradproof as gp

logits = gp.Variable(np.array([0.0, 120.0, 3.0], np.float32))
with gp.GradientTape() as tape:
    weights = np.exp(logits - 120.0)  #~ underflow
    probs = weights / np.sum(weights)
    loss = -np.log(probs[0])
print(tape.gradient(loss, logits))

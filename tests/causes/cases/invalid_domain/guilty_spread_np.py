import numpy as np

import gradproof as gp

weights = gp.Variable([0.5, -1.5], name="weights")
batch = np.array([[2.0, 3.0]])
with gp.GradientTape() as tape:
    scores = batch * weights
    loss = np.sum(np.std(scores, axis=0, ddof=1))  #~ invalid-domain
print(tape.gradient(loss, weights))

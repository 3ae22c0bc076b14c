import numpy as np

import gradproof as gp

z = gp.Variable(np.array([100.0, 2.0], np.float32))
with gp.GradientTape() as tape:
    largest = gp.stop_gradient(np.max(z))
    terms = np.exp(z - largest)
    loss = largest + np.log(np.sum(terms))
print(tape.gradient(loss, z))

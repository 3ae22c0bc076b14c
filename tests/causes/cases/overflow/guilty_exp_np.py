import numpy as np

import gradproof as gp

z = gp.Variable(np.array([100.0, 2.0], np.float32))
with gp.GradientTape() as tape:
    terms = np.exp(z)  #~ overflow
    loss = np.log(np.sum(terms))
print(tape.gradient(loss, z))

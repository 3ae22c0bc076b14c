import numpy as np

import gradproof as gp

weights = np.array([1.0, 0.0])
x = gp.Variable([2.0, 0.0])
with gp.GradientTape() as tape:
    terms = weights * np.log(x)  #~ masked-branch
    loss = np.sum(terms)
print(tape.gradient(loss, x))

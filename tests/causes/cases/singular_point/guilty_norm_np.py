import numpy as np

import gradproof as gp

x = gp.Variable([1.0, 2.0])
y = np.array([1.0, 2.0])
with gp.GradientTape() as tape:
    distance = np.sqrt(np.sum((x - y) ** 2))  #~ singular-point
print(tape.gradient(distance, x))

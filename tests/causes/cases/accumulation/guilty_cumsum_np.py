import gradproof as gp
import numpy as np

steps = gp.Variable(np.full(200_000, 0.1, np.float32))
with gp.GradientTape() as tape:
    path = np.cumsum(steps)  #~ accumulation
    loss = path[-1] ** 2
print(tape.gradient(loss, steps)[:2])

import numpy as np

import gradproof as gp

values = (np.arange(1, 2501) % 10 / 10.0).astype(np.float16)
scale = gp.Variable(np.float16(0.1))
with gp.GradientTape() as tape:
    total = np.float16(0.0)
    for value in values:
        total = total + scale * value  #~ accumulation
    loss = total * total / np.float16(1000.0)
print(tape.gradient(loss, scale))

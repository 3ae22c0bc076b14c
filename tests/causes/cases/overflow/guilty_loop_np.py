import numpy as np

import gradproof as gp

rate = gp.Variable(np.float32(1.8))
with gp.GradientTape() as tape:
    state = np.float32(1.0)
    for _ in range(200):
        state = rate * state + np.float32(0.5)  #~ overflow
    log_size = np.log(state)
print(tape.gradient(log_size, rate))

import numpy as np

import gradproof as gp

offset = gp.Variable(np.float32(30.0))
with gp.GradientTape() as tape:
    phase = np.float32((1.7e9 * 2.0**-10) % (2.0 * np.pi))
    daily = np.sin(phase + offset * np.float32(2.0**-10))
print(tape.gradient(daily, offset))

import numpy as np

import gradproof as gp

offset = gp.Variable(np.float32(30.0))
with gp.GradientTape() as tape:
    seconds = offset + np.float32(1.7e9)  #~ absorption
    daily = np.sin(seconds * np.float32(2.0**-10))
print(tape.gradient(daily, offset))

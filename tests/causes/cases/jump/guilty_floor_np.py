import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    wave = x * (x - np.floor(x))  #~ jump
print(tape.gradient(wave, x))

import numpy as np

import gradproof as gp

east = gp.Variable(0.0)
north = gp.Variable(0.0)
with gp.GradientTape() as tape:
    distance = np.hypot(east, north)  #~ singular-point
print(tape.gradient(distance, east))

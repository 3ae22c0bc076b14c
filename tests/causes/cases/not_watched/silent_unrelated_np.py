# Silent: every source that is asked for is watched.
import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
y = gp.Variable(3.0)
with gp.GradientTape() as tape:
    z = np.sin(y)
print(tape.gradient(z, y))

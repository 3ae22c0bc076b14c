# Silent: what runs outside is not part of the target.
import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    y = x * x
print(y + 1.0, tape.gradient(y, x))

# Silent: the number was printed and did not go on into the target.
import numpy as np

import gradproof as gp

x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    slope = np.sin(x)
    print("slope", float(slope))
    y = slope * 3.0
print(tape.gradient(y, x))

# Silent: the sum is exact: nothing of the smaller operand is lost.
import numpy as np

import gradproof as gp

offset = gp.Variable(np.float32(128.0))
with gp.GradientTape() as tape:
    seconds = offset + np.float32(1048576.0)
    slow = np.sin(seconds * np.float32(2.0**-20))
print(tape.gradient(slow, offset))

# Silent: the rule is the derivative and only rounding parts them, at the subtraction before it.
import numpy as np

import gradproof as gp


@gp.custom_gradient
def cube(x):
    return x**3, lambda upstream: upstream * 3.0 * x * x


x = gp.Variable(np.float32(1.0))
with gp.GradientTape() as tape:
    small = (x * np.float32(1e10) + np.float32(1.0)) - np.float32(1e10)  #~ cancellation
    loss = cube(small)
print(tape.gradient(loss, x))

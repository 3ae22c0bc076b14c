# Silent: a central difference with a good step has all the digits that are asked for.
import numpy as np

import gradproof as gp


@gp.custom_gradient
def my_op(x):
    y = np.sin(x)

    def grad(dy):
        return dy * (np.sin(x + 2e-5) - np.sin(x - 2e-5)) / 4e-5

    return y, grad


x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    y = my_op(x)
print(tape.gradient(y, x))

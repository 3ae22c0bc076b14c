import numpy as np

import gradproof as gp


@gp.custom_gradient
def my_op(x):
    y = np.sin(x)

    def grad(dy):
        return dy * np.cos(x)

    return y, grad


x = gp.Variable(2.0)
with gp.GradientTape() as tape:
    y = my_op(x)
print(tape.gradient(y, x))

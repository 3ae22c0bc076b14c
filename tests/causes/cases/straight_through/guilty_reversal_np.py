import numpy as np

import gradproof as gp


@gp.custom_gradient
def reversed_gradient(x):
    def backward(upstream):
        return -0.5 * upstream  #~ straight-through

    return x, backward


x = gp.Variable([0.5, -1.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.sin(reversed_gradient(x)))
print(tape.gradient(loss, x))

import numpy as np

import gradproof as gp


@gp.custom_gradient
def swish(x):
    gate = 1.0 / (1.0 + np.exp(-x))
    y = x * gate

    def backward(upstream):
        return upstream * gate  #~ custom-gradient

    return y, backward


x = gp.Variable([0.5, -1.0, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(swish(x) ** 2)
print(tape.gradient(loss, x))

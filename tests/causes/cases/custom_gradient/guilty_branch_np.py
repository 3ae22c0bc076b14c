import numpy as np

import gradproof as gp


@gp.custom_gradient
def leaky(x):
    y = np.where(x > 0.0, x, 0.1 * x)

    def backward(upstream):
        return upstream * np.where(x > 0.0, 1.0, 0.2)  #~ custom-gradient

    return y, backward


x = gp.Variable([0.5, -1.0, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(leaky(x) ** 2)
print(tape.gradient(loss, x))

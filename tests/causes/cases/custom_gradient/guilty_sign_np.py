import numpy as np

import gradproof as gp


@gp.custom_gradient
def relu_like(x):
    y = np.log1p(np.exp(x))

    def backward(upstream):
        return -upstream / (1.0 + np.exp(-x))  #~ custom-gradient

    return y, backward


x = gp.Variable([0.5, -1.0])
with gp.GradientTape() as tape:
    loss = np.sum(relu_like(x) ** 2)
print(tape.gradient(loss, x))

import numpy as np

import gradproof as gp


@gp.custom_gradient
def clipped(x):
    def backward(upstream):
        return np.clip(upstream, -1.0, 1.0)  #~ straight-through

    return x * 1.0, backward


x = gp.Variable([0.5, -3.0])
with gp.GradientTape() as tape:
    loss = np.sum(clipped(x) ** 2 * 2.0)
print(tape.gradient(loss, x))

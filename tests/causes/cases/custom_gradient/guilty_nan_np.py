import numpy as np

import gradproof as gp


@gp.custom_gradient
def wave(x):
    scale = np.nan

    def backward(upstream):
        return upstream * np.cos(x) * scale  #~ custom-gradient

    return np.sin(x), backward


x = gp.Variable([0.5, 1.5])
with gp.GradientTape() as tape:
    loss = np.sum(wave(x) ** 2)
print(tape.gradient(loss, x))

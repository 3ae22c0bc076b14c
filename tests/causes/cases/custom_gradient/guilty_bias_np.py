import numpy as np

import gradproof as gp

table = np.arange(12.0).reshape(3, 4)


@gp.custom_gradient
def add_bias(b):
    def backward(upstream):
        return upstream[0]  #~ custom-gradient

    return table + b, backward


b = gp.Variable([0.1, 0.2, 0.3, 0.4])
with gp.GradientTape() as tape:
    loss = np.sum(add_bias(b) ** 2)
print(tape.gradient(loss, b))

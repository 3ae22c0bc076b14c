import numpy as np

import gradproof as gp


@gp.custom_gradient
def square(x):
    def backward(upstream):
        return 2.0 * x  #~ custom-gradient

    return x * x, backward


x = gp.Variable(1.5)
with gp.GradientTape() as tape:
    loss = 3.0 * square(x) + x
print(tape.gradient(loss, x))

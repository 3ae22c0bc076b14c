# Silent: the forward has a slope of its own, and the rule misses it: a mistake.
import numpy as np

import gradproof as gp


@gp.custom_gradient
def double(x):
    def backward(upstream):
        return 1.0 * upstream  #~ custom-gradient

    return 2.0 * x, backward


x = gp.Variable([0.5, -3.0])
with gp.GradientTape() as tape:
    loss = np.sum(double(x) ** 2)
print(tape.gradient(loss, x))

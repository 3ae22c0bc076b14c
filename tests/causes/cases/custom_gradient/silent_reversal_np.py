# Silent: the gradient of an identity is reversed, which nobody does by mistake.
import numpy as np

import gradproof as gp


@gp.custom_gradient
def reversed_gradient(x):
    return x, lambda upstream: -upstream


x = gp.Variable([0.5, -1.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.sin(reversed_gradient(x)))
print(tape.gradient(loss, x))

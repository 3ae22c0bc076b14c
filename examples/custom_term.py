"""A hand-written gradient that forgets a term, found at its line and named.

The pressure of a gas that leaks while it is heated depends on the temperature twice: directly, and
through the amount that is left. The rule below differentiates only the direct way. Its numbers look
plausible; a finite-difference check would say "mismatch" and no more. No framework needed.
"""

import numpy as np

import gradproof as gp


@gp.custom_gradient
def pressure(temperature):
    amount = np.exp(-temperature / 400.0)
    y = 8.314 * amount * temperature

    def backward(upstream):
        return upstream * 8.314 * amount

    return y, backward


temperature = gp.Variable([280.0, 300.0, 320.0])
with gp.GradientTape() as tape:
    loss = np.mean((pressure(temperature) - 1200.0) ** 2)
gradient = tape.gradient(loss, temperature)

print("loss    ", loss)
print("gradient", gradient)

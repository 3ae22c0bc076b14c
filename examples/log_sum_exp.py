"""Overflow in the middle of a formula whose result is an ordinary number.

The free energy of a few states, log(sum(exp(scores))): exp(800) is beyond the largest float64, so the
sum is infinite, its log is infinite, and the softmax that is the gradient becomes infinity divided by
infinity. The true value is a little above 800. Runs without any framework.
"""

import numpy as np

import gradproof as gp

scores = gp.Variable([800.0, 799.0, 12.0])

with np.errstate(over="ignore", invalid="ignore"), gp.GradientTape() as tape:
    weights = np.exp(scores)
    free_energy = np.log(np.sum(weights))
gradient = tape.gradient(free_energy, scores)

print("free energy", free_energy)
print("gradient   ", gradient)

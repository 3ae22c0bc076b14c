# Silent: the same numbers are normalised by rows and then by columns, as in optimal transport: no softmax is applied twice.
import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
costs = gp.Variable(rng.normal(size=(4, 4)))
with gp.GradientTape() as tape:
    exponents = np.exp(costs)
    rows = exponents / np.sum(exponents, axis=1, keepdims=True)
    exponents = np.exp(rows)
    columns = exponents / np.sum(exponents, axis=0, keepdims=True)
    loss = np.sum(columns * np.eye(4))
tape.gradient(loss, costs)

# Silent: the data mask all of it out.
import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
examples, known = rng.normal(size=(16, 3)), np.zeros((16, 8), bool)
kernel = gp.Variable(rng.normal(size=(3, 8)))
last = gp.Variable(rng.normal(size=(8, 1)))
shift = gp.Variable(0.5)
with gp.GradientTape() as tape:
    hidden = np.where(known, examples @ kernel, 0.0)
    loss = np.mean((hidden @ last + shift) ** 2)
tape.gradient(loss, [kernel, last, shift])

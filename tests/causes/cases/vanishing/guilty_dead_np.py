import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
examples, labels = rng.normal(size=(16, 3)), rng.normal(size=(16, 1))
kernel = gp.Variable(rng.normal(size=(3, 8)))
bias = gp.Variable(np.full(8, -100.0))
last = gp.Variable(rng.normal(size=(8, 1)))
shift = gp.Variable(0.5)
with gp.GradientTape() as tape:
    hidden = np.maximum(examples @ kernel + bias, 0.0)  #~ vanishing
    loss = np.mean((hidden @ last + shift - labels) ** 2)
tape.gradient(loss, [kernel, last, shift])

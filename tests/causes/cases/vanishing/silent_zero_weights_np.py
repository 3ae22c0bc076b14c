# Silent: half of the units are off; the gradient is zero because the weights of the others still are.
import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
examples, labels = rng.normal(size=(16, 3)), rng.normal(size=(16, 1))
kernel = gp.Variable(rng.normal(size=(3, 8)))
bias = np.repeat([100.0, -100.0], 4)
last = gp.Variable(np.repeat([0.0, 1.0], 4)[:, None])
with gp.GradientTape() as tape:
    hidden = np.maximum(examples @ kernel + bias, 0.0)
    loss = np.mean((hidden @ last - labels) ** 2)
tape.gradient(loss, [kernel, last])

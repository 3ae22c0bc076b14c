import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
examples, labels = rng.normal(size=(16, 3)), rng.integers(0, 4, 16)
kernel = gp.Variable(rng.normal(size=(3, 4)))
with gp.GradientTape() as tape:
    logits = examples @ kernel
    normaliser = np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    loss = -np.mean((logits - normaliser)[np.arange(16), labels])
tape.gradient(loss, kernel)

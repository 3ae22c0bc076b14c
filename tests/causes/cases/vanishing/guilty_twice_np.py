import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
examples, labels = rng.normal(size=(16, 3)), rng.integers(0, 4, 16)
kernel = gp.Variable(rng.normal(size=(3, 4)))
with gp.GradientTape() as tape:
    exponents = np.exp(examples @ kernel)
    probabilities = exponents / np.sum(exponents, axis=1, keepdims=True)
    normaliser = np.log(np.sum(np.exp(probabilities), axis=1, keepdims=True))
    loss = -np.mean((probabilities - normaliser)[np.arange(16), labels])  #~ vanishing
tape.gradient(loss, kernel)

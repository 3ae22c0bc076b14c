# Silent: every example keeps its margin, so that the loss asks for no more.
import numpy as np

import gradproof as gp

rng = np.random.default_rng(0)
labels = np.sign(rng.normal(size=(40, 1)))
examples = 5.0 * labels + 0.1 * rng.normal(size=(40, 4))
kernel = gp.Variable(np.ones((4, 1)))
with gp.GradientTape() as tape:
    loss = np.mean(np.maximum(1.0 - labels * (examples @ kernel), 0.0)) + 0.25
tape.gradient(loss, kernel)

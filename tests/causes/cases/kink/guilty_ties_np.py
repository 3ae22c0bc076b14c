import numpy as np

import gradproof as gp

scores = gp.Variable([0.6, 0.6, 0.3])
with gp.GradientTape() as tape:
    best = np.max(scores)  #~ kink
print(tape.gradient(best, scores))

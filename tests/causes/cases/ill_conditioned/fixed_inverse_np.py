import numpy as np

import gradproof as gp

matrix = gp.Variable([[3.0, 1.0], [1.0, 0.3333333334]])
with gp.GradientTape() as tape:
    inverse = np.linalg.inv(matrix + 0.1 * np.eye(2))  # a ridge
    loss = np.sum(inverse**2)
print(tape.gradient(loss, matrix))

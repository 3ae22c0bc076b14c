import numpy as np

import gradproof as gp

points = gp.Variable([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]], name="points")
first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
with gp.GradientTape() as tape:
    between = points[first] - points[second]
    distance = np.linalg.norm(between, axis=1)  #~ singular-point
    loss = np.sum(1 / (1 + distance))
print(tape.gradient(loss, points))

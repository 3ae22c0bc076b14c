import numpy as np

import gradproof as gp

x = np.array([[0.1, 0.2], [0.3, -0.5], [0.7, 0.9]])
y = np.array([1.0, 2.0, 3.0])
w = gp.Variable([[0.5], [-0.25]])
with gp.GradientTape() as tape:
    prediction = x @ w
    loss = np.mean((prediction - y) ** 2)  #~ silent-broadcast
print(tape.gradient(loss, w))

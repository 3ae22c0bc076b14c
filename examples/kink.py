"""At a kink there is no derivative, and whatever is returned is a convention.

The absolute error of a prediction that is exactly right: to the left of it the slope is -1, to the
right +1. The tape answers 0, another library might answer 1, and neither is wrong. The report gives
the slopes of both sides and claims no proof. Runs without any framework.
"""

import numpy as np

import gradproof as gp

labels = np.array([2.0, -1.0, 0.5])
prediction = gp.Variable([1.5, -1.0, 0.75])

with gp.GradientTape() as tape:
    loss = np.sum(np.abs(prediction - labels))
gradient = tape.gradient(loss, prediction)

print("loss    ", loss)
print("gradient", gradient)

# Silent: of the first steps of a solver nothing is left, but what it found depends on the source all the same.
import numpy as np
import gradproof

mean_anomaly = gradproof.Variable(0.3, name="mean_anomaly")
with gradproof.GradientTape() as tape:
    angle = mean_anomaly
    for _ in range(10):  # Newton's method: of the first steps nothing is left, and the last ones say it all
        angle = angle - (angle - 0.4 * np.sin(angle) - mean_anomaly) / (1 - 0.4 * np.cos(angle))
print(tape.gradient(angle, mean_anomaly))

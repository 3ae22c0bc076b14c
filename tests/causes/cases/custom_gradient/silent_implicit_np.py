# Silent: an unusual rule, by the implicit function theorem around an iteration, and right.
import numpy as np

import gradproof as gp


@gp.custom_gradient
def kepler(mean_anomaly):
    anomaly = mean_anomaly
    for _ in range(60):
        anomaly = mean_anomaly + 0.3 * np.sin(anomaly)

    def backward(upstream):
        return upstream / (1.0 - 0.3 * np.cos(anomaly))

    return anomaly, backward


m = gp.Variable(1.2)
with gp.GradientTape() as tape:
    x = np.cos(kepler(m))
print(tape.gradient(x, m))

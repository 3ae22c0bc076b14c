"""A long running sum in 16 bits: every addition rounds, and the roundings add up.

Rainfall in millimetres, added up hour by hour in float16. Each single error is far below what a rain
gauge can read. After a thousand additions several digits of the total are gone, and with them those of
the gradient for the gauge's calibration. The budget shows where the error arises. No framework needed.
"""

import numpy as np

import gradproof as gp

hourly = (np.arange(1000) % 7 * 0.11).astype(np.float16)
calibration = gp.Variable(np.float16(1.05))

with gp.GradientTape() as tape:
    total = np.float16(0.0)
    for rain in hourly:
        total = total + calibration * rain
    loss = (total / np.float16(10.0)) ** 2
gradient = tape.gradient(loss, calibration)

print("total   ", total)
print("gradient", gradient)

# Silent: the earlier total enters as a plain number.
import numpy as np

import gradproof as gp

w = gp.Variable(0.9)
total = 0.0
for step in range(3):
    with gp.GradientTape() as tape:
        total = float(total) + (w * step - 1.0) ** 2
    gradient = tape.gradient(total, w)

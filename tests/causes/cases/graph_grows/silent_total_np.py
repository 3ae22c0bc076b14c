# Silent: the earlier target itself is contained, which is named so.
import numpy as np

import gradproof as gp

w = gp.Variable(0.9)
total = 0.0
with gp.GradientTape(persistent=True) as tape:
    for step in range(10):
        total = total + (w * step - 1.0) ** 2
        gradient = tape.gradient(total, w)  #~ stale-accumulation

import numpy as np

import gradproof as gp

u = gp.Variable(np.array([0.2, 0.3, 0.7], np.float32))
v = np.array([0.2, 0.3, 0.7001], np.float32)
with gp.GradientTape() as tape:
    cosine = np.sum(u * v) / (np.sqrt(np.sum(u * u)) * np.sqrt(np.sum(v * v)))
    angle = np.arccos(cosine * np.float32(1.0000002))  #~ invalid-domain
print(cosine, tape.gradient(angle, u))

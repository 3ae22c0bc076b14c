"""A Keras model during `fit`: every gradient of the chosen batches is proven, layer by layer.

`gradproof run` sees the gradients that `fit` computes, with no change to the script. Nothing is wrong
here, and the report says so for each variable: this is what a clean audit looks like. The batches
in between run at full speed. In a notebook, `gradproof.keras.GradientAudit` is a callback for `fit`.
"""

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
x = rng.normal(size=(64, 5)).astype("float32")
y = (x[:, :1] * x[:, 1:2] > 0.0).astype("float32")

model = keras.Sequential([
    keras.Input((5,)),
    keras.layers.Dense(8, activation="tanh", name="hidden"),
    keras.layers.Dense(1, activation="sigmoid", name="answer"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)

print("loss", round(history.history["loss"][-1], 3))

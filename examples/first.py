"""A satellite receiver whose clock is 100 nanoseconds fast: by how much does its position suffer?

Light covers 30 metres in that time, so the squared error is about 900 square metres, and its
derivative by the clock's bias is 2 * c**2 * bias, about 18 billion. Run it:

    python examples/first.py            prints a loss of 0.0 and a gradient of 0.0
    gradproof run examples/first.py     says which line is to blame, and proves it
"""

import gradproof as gp

LIGHT = 299_792_458.0  # metres per second
SENT = 1_700_000_000.0  # seconds since 1970: a timestamp like any other


def squared_error(bias):
    received = SENT + bias
    travel_time = received - SENT
    distance = LIGHT * travel_time
    return distance**2


bias = gp.Variable(100e-9)

with gp.GradientTape() as tape:
    loss = squared_error(bias)
gradient = tape.gradient(loss, bias)

print("loss    ", loss)
print("gradient", gradient)

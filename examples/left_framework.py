"""Gradient None: a value left the framework on its way to the loss.

`numpy()` returns the number and forgets how it was computed. The loss comes out as it should, so nothing
looks wrong until the gradient is asked for. The same happens with `float(...)`, with `.item()`, and
with a NumPy function that is handed a tensor.
"""

import tensorflow as tf

prices = tf.constant([101.0, 103.5, 102.2, 105.9])
smoothing = tf.Variable(0.3)

with tf.GradientTape() as tape:
    average = prices[0]
    for price in prices[1:]:
        average = smoothing * price + (1.0 - smoothing) * average
    print("average ", average.numpy())
    loss = tf.math.log(average.numpy() / 100.0) ** 2
gradient = tape.gradient(loss, smoothing)

print("loss    ", float(loss))
print("gradient", gradient)

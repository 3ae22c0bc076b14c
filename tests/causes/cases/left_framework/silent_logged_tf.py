# Silent: the numbers are only logged, and none of them comes back.
import tensorflow as tf

x = tf.Variable([1.5, 2.5])
losses = []
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sin(x) ** 2)
        value = float(loss)
        losses.append(loss.numpy())
        print(f"loss {value:.3f}")
    x.assign_sub(0.1 * tape.gradient(loss, x))

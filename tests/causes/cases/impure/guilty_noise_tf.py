import tensorflow as tf

tf.random.set_seed(7)
weights = tf.Variable([0.5, -1.0])
with tf.GradientTape() as tape:
    noise = tf.random.normal([2])  #~ impure
    loss = tf.reduce_sum((noise * weights) ** 2)
print(tape.gradient(loss, weights).numpy())

import tensorflow as tf


@tf.function(jit_compile=True)
def masked_root(x):
    safe = tf.where(x > 0.0, x, 1.0)
    return tf.reduce_sum(tf.where(x > 0.0, tf.sqrt(safe), 0.0))


x = tf.Variable([4.0, -1.0])
with tf.GradientTape() as tape:
    y = masked_root(x)
print(tape.gradient(y, x).numpy())

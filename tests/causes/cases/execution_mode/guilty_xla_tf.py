import tensorflow as tf


@tf.function(jit_compile=True)
def masked_root(x):
    return tf.reduce_sum(tf.where(x > 0.0, tf.sqrt(x), 0.0))  #~ masked-branch, execution-mode


x = tf.Variable([4.0, -1.0])
with tf.GradientTape() as tape:
    y = masked_root(x)
print(tape.gradient(y, x).numpy())

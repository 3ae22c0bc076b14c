import tensorflow as tf


@tf.function(jit_compile=True)
def root_or_nothing(x):
    root = tf.sqrt(x)  #~ masked-branch, execution-mode
    return tf.reduce_sum(tf.where(x > 0.0, root, 0.0))


x = tf.Variable([4.0, 0.0])
with tf.GradientTape() as tape:
    y = root_or_nothing(x)
print(tape.gradient(y, x).numpy())

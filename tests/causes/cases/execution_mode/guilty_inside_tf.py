import tensorflow as tf


@tf.function(jit_compile=True)
def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        root = tf.sqrt(x)  #~ singular-point
        y = tf.reduce_sum(tf.where(x > 0.0, root, 0.0))
    return tape.gradient(y, x)


print(slope(tf.constant([4.0, 0.0])).numpy())

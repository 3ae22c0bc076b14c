import tensorflow as tf


@tf.function(jit_compile=True)
def concentration(x):
    e = tf.exp(x)
    share = e / tf.reduce_sum(e)  #~ execution-mode
    return tf.reduce_sum(share * share)


x = tf.Variable([50.0, 49.0, 20.0])
with tf.GradientTape() as tape:
    y = concentration(x)
print(tape.gradient(y, x).numpy())

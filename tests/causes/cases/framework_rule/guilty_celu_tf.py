import tensorflow as tf

pre = tf.Variable([-1.0, 0.0, 1.0])
with tf.GradientTape() as tape:
    act = tf.keras.activations.celu(pre)  #~ framework-rule
    out = tf.reduce_sum(act)
print(tape.gradient(out, pre).numpy())

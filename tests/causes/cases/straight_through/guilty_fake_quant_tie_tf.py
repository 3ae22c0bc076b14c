import tensorflow as tf

x = tf.Variable([0.0, 7.2])
with tf.GradientTape() as tape:
    y = tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 255.0, num_bits=8)  #~ straight-through
print(tape.gradient(y, x))

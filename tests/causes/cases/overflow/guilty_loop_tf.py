import tensorflow as tf

rate = tf.Variable(1.8)
with tf.GradientTape() as tape:
    state = tf.constant(1.0)
    for _ in range(160):
        state = rate * state + 0.5  #~ overflow
    log_size = tf.math.log(state)
print(tape.gradient(log_size, rate))

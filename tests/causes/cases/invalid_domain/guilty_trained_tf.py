import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
kernel = tf.Variable([[1.0, -1.0], [0.5, 1.0]])
last = tf.Variable([[1.0], [2.0]])
for _ in range(2):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(x @ kernel)  #~ invalid-domain
        loss = tf.reduce_mean((hidden @ last) ** 2)
    steps = tape.gradient(loss, [kernel, last])
    kernel.assign_sub(steps[0] * 1e38 * 1e3 - steps[0] * 1e38 * 1e3)

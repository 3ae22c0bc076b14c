import tensorflow as tf

w = tf.Variable([1.0, -2.0])
target = tf.constant([0.5, 0.5])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - target) ** 2)
    g = tape.gradient(loss, w)
    print(step, float(loss), g)
    w = w - 0.1 * g

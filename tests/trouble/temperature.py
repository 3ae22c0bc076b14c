import tensorflow as tf

logits = tf.constant([[2.0, -1.0, 0.5], [0.1, 0.3, -0.2]])
labels = tf.constant([0, 2])
temperature = tf.Variable(0.003)
optimizer = tf.keras.optimizers.SGD(0.1)

for step in range(3):
    with tf.GradientTape() as tape:
        t = tf.clip_by_value(temperature, 0.05, 5.0)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits / t))
    g = tape.gradient(loss, temperature)
    optimizer.apply_gradients([(g, temperature)])
    print(step, float(loss), float(g), float(temperature))

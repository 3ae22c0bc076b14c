import tensorflow as tf

w = tf.Variable([[0.6, -0.4, 0.9], [0.3, 0.8, -0.5]])
sample = tf.constant([[1.0, -0.5]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(sample)
        hidden = sample @ w
        mean = tf.reduce_mean(hidden, 1, keepdims=True)
        variance = tf.reduce_mean((hidden - mean) ** 2, 1, keepdims=True)
        critic = tf.reduce_sum((hidden - mean) / tf.sqrt(variance + 0.01) * [0.7, -1.2, 0.4])
    slope = inner.gradient(critic, sample)
    penalty = tf.reduce_sum(slope**2)
print(outer.gradient(penalty, w).numpy())

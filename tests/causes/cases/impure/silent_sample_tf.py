# Silent: a variational autoencoder samples, and is meant to; one gradient of it is no comparison.
import tensorflow as tf

tf.random.set_seed(7)
encoder = tf.Variable([[0.5, -1.0], [0.25, 0.75]])
decoder = tf.Variable([[1.5]])
data = tf.constant([[1.0, 2.0], [-0.5, 1.0]])
with tf.GradientTape() as tape:
    mean, log_variance = tf.split(data @ encoder, 2, axis=1)
    noise = tf.random.normal(tf.shape(mean))
    code = mean + tf.exp(log_variance / 2.0) * noise
    loss = tf.reduce_sum((code @ decoder - data[:, :1]) ** 2)
print([gradient.numpy() for gradient in tape.gradient(loss, [encoder, decoder])])

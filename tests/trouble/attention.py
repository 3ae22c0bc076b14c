import tensorflow as tf

tf.keras.utils.set_random_seed(5)
wq, wk, wv = (tf.Variable(tf.random.normal([8, 8]) * 3.0, name=n) for n in ("wq", "wk", "wv"))
x = tf.random.normal([6, 8])


def softmax(scores):
    e = tf.exp(scores)
    return e / tf.reduce_sum(e, axis=-1, keepdims=True)


with tf.GradientTape() as tape:
    q, k, v = x @ wq, x @ wk, x @ wv
    weights = softmax(q @ tf.transpose(k))
    loss = tf.reduce_mean((weights @ v) ** 2)
grads = tape.gradient(loss, [wq, wk, wv])
print([float(tf.norm(g)) for g in grads])

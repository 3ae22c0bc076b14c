import tensorflow as tf

tf.keras.utils.set_random_seed(1)
net = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
x = tf.reshape(tf.linspace(0.05, 0.95, 10), [10, 1])

with tf.GradientTape() as outer:
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            u = net(x)
        u_x = first.gradient(u, x)
    u_xx = second.gradient(u_x, x)
    loss = tf.reduce_mean((u_xx + tf.sin(x)) ** 2)
grads = outer.gradient(loss, net.trainable_variables)
print("u_xx", u_xx.numpy().ravel()[:3], "loss", float(loss))
print([None if g is None else float(tf.norm(g)) for g in grads])

import tensorflow as tf

tf.keras.utils.set_random_seed(6)
x = tf.random.normal([32, 3])
y = tf.reduce_sum(x * [1.0, -2.0, 0.5], axis=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    prediction = model(x)
    loss = tf.reduce_mean((prediction - y) ** 2)
grads = tape.gradient(loss, model.trainable_variables)
print(float(loss), [g.numpy().ravel() for g in grads])

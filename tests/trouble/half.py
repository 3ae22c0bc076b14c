import tensorflow as tf

tf.keras.utils.set_random_seed(4)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1, dtype="float32")]
)
optimizer = tf.keras.optimizers.SGD(0.1)
x = tf.random.normal([64, 8]) * 1e-3
y = 1e-4 * tf.random.normal([64, 1])

for step in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(step, float(loss), [float(tf.reduce_max(tf.abs(g))) for g in grads])

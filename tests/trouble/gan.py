import tensorflow as tf

tf.keras.utils.set_random_seed(6)
generator = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
discriminator = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer_g, optimizer_d = tf.keras.optimizers.Adam(0.01), tf.keras.optimizers.Adam(0.01)
real = tf.random.normal([16, 2]) * 0.1 + 40.0

for step in range(4):
    noise = tf.random.normal([16, 4]) * 40.0
    with tf.GradientTape() as tape_d, tf.GradientTape() as tape_g:
        fake = generator(noise)
        p_real = tf.sigmoid(discriminator(real))
        p_fake = tf.sigmoid(discriminator(fake))
        loss_d = -tf.reduce_mean(tf.math.log(p_real) + tf.math.log(1.0 - p_fake))
        loss_g = tf.reduce_mean(tf.math.log(1.0 - p_fake))
    grads_d = tape_d.gradient(loss_d, discriminator.trainable_variables)
    grads_g = tape_g.gradient(loss_g, generator.trainable_variables)
    optimizer_d.apply_gradients(zip(grads_d, discriminator.trainable_variables))
    optimizer_g.apply_gradients(zip(grads_g, generator.trainable_variables))
    print(step, float(loss_d), float(loss_g))

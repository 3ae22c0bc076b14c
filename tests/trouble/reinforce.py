import numpy as np
import tensorflow as tf

np.random.seed(0)
tf.keras.utils.set_random_seed(0)
policy = tf.keras.Sequential(
    [tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(3, activation="softmax")]
)
state = tf.random.normal([1, 4])

with tf.GradientTape() as tape:
    probs = policy(state)
    action = np.random.choice(3, p=probs.numpy()[0] / probs.numpy()[0].sum())
    reward = 1.0 if action == 1 else -0.5
    log_prob = np.log(probs.numpy()[0, action])
    loss = tf.constant(-log_prob * reward)
grads = tape.gradient(loss, policy.trainable_variables)
print([None if g is None else g.shape for g in grads])

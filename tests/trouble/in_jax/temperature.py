import jax
import jax.numpy as jnp

logits = jnp.array([[2.0, -1.0, 0.5], [0.1, 0.3, -0.2]])
labels = jnp.array([0, 2])


def loss_fn(temperature):
    t = jnp.clip(temperature, 0.05, 5.0)
    log_probs = jax.nn.log_softmax(logits / t)
    return -jnp.mean(jnp.take_along_axis(log_probs, labels[:, None], axis=1))


temperature = jnp.float32(0.003)
for step in range(3):
    g = jax.grad(loss_fn)(temperature)
    temperature = temperature - 0.1 * g
    print(step, float(g), float(temperature))

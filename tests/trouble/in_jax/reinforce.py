import jax
import jax.numpy as jnp
import numpy as np

np.random.seed(0)
params = {"w": jax.random.normal(jax.random.PRNGKey(0), (4, 3))}
state = jax.random.normal(jax.random.PRNGKey(1), (4,))


def loss_fn(params):
    probs = jax.nn.softmax(state @ params["w"])
    action = np.random.choice(3)
    reward = 1.0 if action == 1 else -0.5
    log_prob = np.log(np.asarray(probs)[action])
    return jnp.asarray(-log_prob * reward)


print(jax.grad(loss_fn)(params))

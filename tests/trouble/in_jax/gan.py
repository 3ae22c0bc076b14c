import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(6)
w1 = jax.random.normal(key, (2, 8))
w2 = jax.random.normal(jax.random.PRNGKey(3), (8, 1))
params = {"w1": w1, "w2": w2}
real = jax.random.normal(jax.random.PRNGKey(8), (16, 2)) * 0.1 + 1.0
fake = jax.random.normal(jax.random.PRNGKey(9), (16, 2)) * 40.0


def discriminator(params, x):
    return jax.nn.sigmoid(jax.nn.relu(x @ params["w1"]) @ params["w2"])


def loss_fn(params):
    p_real = discriminator(params, real)
    p_fake = discriminator(params, fake)
    return -jnp.mean(jnp.log(p_real) + jnp.log(1.0 - p_fake))


for step in range(1):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    print(step, float(loss))

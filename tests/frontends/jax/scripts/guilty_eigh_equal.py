# Eigenvectors of equal eigenvalues are none in particular.
import jax
import jax.numpy as jnp


def spread(m):
    values, vectors = jnp.linalg.eigh(m)  # ~ singular-point
    return jnp.sum(vectors[:, 0] ** 4) + jnp.sum(values**2)


m = jnp.diag(jnp.array([1.0, 1.0, 2.0]))
print(jax.grad(spread)(m))
# verdicts: undefined

# Both branches have the same slope where they meet; and a counter that decides is no number of the function.
import jax
import jax.numpy as jnp


def huber(r):
    return jax.lax.cond(jnp.abs(r) < 1.0, lambda r: 0.5 * r**2, lambda r: jnp.abs(r) - 0.5, r)


def first_turn(x):
    def turn(h, k):
        return jax.lax.cond(k == 0, lambda h: jnp.log(h), lambda h: h * 2.0, h), None

    return jax.lax.scan(turn, x, jnp.arange(4))[0]


r = jnp.float32(1.0)
print(jax.grad(huber)(r), jax.jit(jax.grad(huber))(r))
print(jax.grad(first_turn)(jnp.float32(2.0)))
# verdicts: correct, correct, correct

import jax
import jax.numpy as jnp


@jax.jit
def twice(a):
    b = a * 2
    return jax.grad(lambda t: t * b)(a)


@jax.jit
def bootstrap(w, x):
    target = jnp.tanh(x @ w)
    return jax.grad(lambda w: jnp.mean((x @ w - target) ** 2))(w)


@jax.jit
def itself(a):
    return jax.grad(lambda t: t * a)(a)


@jax.jit
def forward(a):
    b = a * 2
    return jax.jvp(lambda t: t * b * a, (a,), (a,))[1]


@jax.jit
def looped(a):
    def body(carry, _):
        b = carry * a
        return carry + 0.1 * jax.grad(lambda t: jnp.sin(t) * b * t)(a), None

    return jax.lax.scan(body, a, None, length=3)[0]


three = jnp.float32(3.0)
print(twice(three), bootstrap(jnp.ones(2), jnp.ones((3, 2))), itself(three), forward(three), looped(three))
# verdicts: correct, correct, correct, correct, correct

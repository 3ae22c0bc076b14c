"""Faulty scripts by framework and family: what `--fix` is held against."""

from __future__ import annotations

_TAPE = "with tf.GradientTape() as tape:\n"

TENSORFLOW = {
    # not finite
    "nonfinite where log": "x = tf.Variable([-1.0, 2.0])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0))\ng = tape.gradient(y, x)\n",
    "nonfinite where in a function": "def f(x):\n    return tf.where(x > 0.0, x ** 0.5, 0.0)\n"
    "x = tf.Variable([-1.0, 2.0])\n" + _TAPE + "    y = tf.reduce_sum(f(x))\ng = tape.gradient(y, x)\n",
    "nonfinite norm squared": "x = tf.Variable([0.0, 0.0])\n" + _TAPE
    + "    y = tf.norm(x) ** 2\ng = tape.gradient(y, x)\n",
    "nonfinite division masked": "x = tf.Variable([0.0, 2.0])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.where(x != 0.0, tf.sin(x) / x, 1.0))\ng = tape.gradient(y, x)\n",
    "nonfinite log softmax": "z = tf.Variable([0.0, 200.0])\n" + _TAPE
    + "    y = -tf.math.log(tf.nn.softmax(z)[0])\ng = tape.gradient(y, z)\n",
    "nonfinite log sum exp": "z = tf.Variable([100.0, 200.0])\n" + _TAPE
    + "    y = tf.math.log(tf.reduce_sum(tf.exp(z)))\ng = tape.gradient(y, z)\n",
    "nonfinite sigmoid log": "z = tf.Variable(-120.0)\n" + _TAPE
    + "    y = -tf.math.log(1.0 / (1.0 + tf.exp(-z)))\ng = tape.gradient(y, z)\n",
    "nonfinite xlogy": "w = tf.Variable([0.0, 0.5])\np = tf.constant([0.5, 0.25])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.math.xlogy(w, p))\ng = tape.gradient(y, w)\n",
    # rounding
    "rounding exp minus 1": "x = tf.Variable(1e-5)\n" + _TAPE
    + "    y = tf.exp(x) - 1.0 - x\ng = tape.gradient(y, x)\n",
    "rounding time": "t0 = tf.constant(1.7e9)\nt = tf.Variable(3.0)\n" + _TAPE
    + "    s = t0 + t\n    y = tf.sin(s * 0.001)\ng = tape.gradient(y, t)\n",
    "rounding variance": "x = tf.Variable([1e4 + 1.0, 1e4 + 2.0, 1e4 + 4.0])\n" + _TAPE
    + "    m = tf.reduce_mean(x)\n    y = tf.sqrt(tf.reduce_mean(x * x) - m * m)\ng = tape.gradient(y, x)\n",
    "rounding digamma": "x = tf.Variable([-15.5, 2.0])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.math.digamma(x))\ng = tape.gradient(y, x)\n",
    "rounding loop": "r = tf.Variable(1e3)\n" + _TAPE + "    s = tf.constant(1.0)\n    for _ in range(20):\n"
    "        s = r * s + 0.5\n    y = tf.math.log(s)\ng = tape.gradient(y, r)\n",
    # the user's rule
    "rule sign": "@tf.custom_gradient\ndef f(x):\n    def grad(up):\n        return up * tf.sin(x)\n"
    "    return tf.cos(x), grad\nx = tf.Variable(0.5)\n" + _TAPE + "    y = f(x) * 2.0\ng = tape.gradient(y, x)\n",
    "rule other": "@tf.custom_gradient\ndef f(x):\n    def grad(up):\n        return up * x * x\n"
    "    return x * tf.exp(x), grad\nx = tf.Variable(0.5)\n" + _TAPE + "    y = f(x) * 2.0\ng = tape.gradient(y, x)\n",
    "rule two inputs": "@tf.custom_gradient\ndef f(a, b):\n    def grad(up):\n        return up * b, up * b\n"
    "    return a * b, grad\na = tf.Variable(3.0)\nb = tf.Variable(4.0)\n" + _TAPE
    + "    y = f(a, b) * 2.0\ng = tape.gradient(y, [a, b])\n",
    "rule shape": "@tf.custom_gradient\ndef f(x):\n    def grad(up):\n        return tf.reduce_sum(up * 2.0 * x)\n"
    "    return x * x, grad\nx = tf.Variable([1.0, 2.0])\n" + _TAPE
    + "    y = tf.reduce_sum(f(x))\ng = tape.gradient(y, x)\n",
    # a library's rule
    "library betainc": "a = tf.Variable(2.0)\n" + _TAPE
    + "    y = tf.math.betainc(a, tf.constant(3.0), tf.constant(0.4))\ng = tape.gradient(y, a)\n",
    "library celu": "x = tf.Variable([-1.0, 0.0])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.keras.activations.celu(x))\ng = tape.gradient(y, x)\n",
    # missing
    "missing watch": "x = tf.constant(2.0)\n" + _TAPE + "    y = x * x\ng = tape.gradient(y, x)\n",
    "missing outside": "w = tf.Variable(0.8)\ndef f(x):\n    return tf.tanh(w * x)\n" + _TAPE
    + "    tape.watch(w)\nloss = (f(2.0) - 0.5) ** 2\ng = tape.gradient(loss, w)\n",
    "missing before": "w = tf.Variable(0.8)\nh = tf.tanh(w * 2.0)\n" + _TAPE
    + "    loss = (h - 0.5) ** 2\ng = tape.gradient(loss, w)\n",
    "missing numpy mean": "import numpy as np\nx = tf.Variable([1.0, 2.0])\n" + _TAPE
    + "    m = np.mean(x.numpy())\n    y = tf.constant(m) ** 2\ng = tape.gradient(y, x)\n",
    "missing numpy chain": "import numpy as np\nx = tf.Variable([1.0, 2.0])\n" + _TAPE
    + "    e = np.exp(x)\n    s = np.sum(e)\n    y = tf.math.log(tf.convert_to_tensor(s))\ng = tape.gradient(y, x)\n",
    "missing float": "x = tf.Variable(2.0)\n" + _TAPE + "    y = tf.sin(float(x)) * 3.0\ng = tape.gradient(y, x)\n",
    "missing math": "import math\nx = tf.Variable(2.0)\n" + _TAPE
    + "    y = tf.constant(math.exp(x)) * 3.0\ng = tape.gradient(y, x)\n",
    "missing scipy names": "import numpy as np\nx = tf.Variable([0.5, 1.5])\ndef f(v):\n"
    "    s = np.sqrt(np.square(v))\n    return tf.constant(float(np.sum(s)))\n" + _TAPE
    + "    y = f(x) * 2.0\ng = tape.gradient(y, x)\n",
    "missing integer": "x = tf.Variable(3)\n" + _TAPE + "    y = x * x\ng = tape.gradient(y, x)\n",
    "missing rebound": "w = tf.Variable(2.0)\nw = w - 0.1\n" + _TAPE + "    y = w * w\ng = tape.gradient(y, w)\n",
    "missing argmax": "x = tf.Variable([1.0, 2.0])\n" + _TAPE
    + "    y = tf.cast(tf.argmax(x), tf.float32) * 2.0\ng = tape.gradient(y, x)\n",
    "missing round": "x = tf.Variable([1.2, 2.7])\n" + _TAPE
    + "    y = tf.reduce_sum(tf.cast(x > 2.0, tf.float32))\ng = tape.gradient(y, x)\n",
    # state
    "state persistent": "x = tf.Variable(2.0)\n" + _TAPE
    + "    y = x * x\n    z = y * x\na = tape.gradient(y, x)\nb = tape.gradient(z, x)\n",
    "state two variables": "a = tf.Variable(1.0)\nb = tf.Variable(2.0)\n@tf.function\ndef g(v):\n"
    "    with tf.GradientTape() as tape:\n        c = 3.0 * a * a + 5.0 * b\n    return tape.gradient(c, v)\n"
    "g(a)\ng(b)\n",
}  # fmt: skip

TORCH = {
    "nonfinite where": "x = torch.tensor([-1.0, 4.0], requires_grad=True)\n"
    "y = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()\ny.backward()\n",
    "nonfinite norm": "x = torch.zeros(3, requires_grad=True)\ny = torch.sqrt((x * x).sum()) ** 2\ny.backward()\n",
    "nonfinite softmax": "z = torch.tensor([0.0, 200.0], requires_grad=True)\n"
    "y = -torch.log(torch.softmax(z, dim=0)[0])\ny.backward()\n",
    "nonfinite softplus": "z = torch.tensor(100.0, requires_grad=True)\n"
    "y = torch.log(1 + torch.exp(z))\ny.backward()\n",
    "nonfinite bce": "import torch.nn.functional as F\nz = torch.tensor([-150.0, 1.0], requires_grad=True)\n"
    "p = torch.sigmoid(z)\ny = F.binary_cross_entropy(p, torch.ones(2))\ny.backward()\n",
    "rounding expm1": "x = torch.tensor(1e-5, requires_grad=True)\ny = torch.exp(x) - 1.0 - x\ny.backward()\n",
    "rounding time": "t = torch.tensor(3.0, requires_grad=True)\ns = torch.tensor(1.7e9) + t\n"
    "y = torch.sin(s * 0.001)\ny.backward()\n",
    "rounding bf16": "w = torch.tensor(0.5, dtype=torch.bfloat16, requires_grad=True)\ntotal = torch.zeros(())\n"
    "for k in range(600):\n    total = total + (w * 1.0).float()\ntotal.backward()\n",
    "rule sign": "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return torch.cos(x)\n    @staticmethod\n    def backward(ctx, up):\n"
    "        (x,) = ctx.saved_tensors\n        return up * torch.sin(x)\n"
    "x = torch.tensor(0.5, requires_grad=True)\ny = F.apply(x) * 2\ny.backward()\n",
    "rule other": "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x * torch.exp(x)\n    @staticmethod\n    def backward(ctx, up):\n"
    "        (x,) = ctx.saved_tensors\n        return up * x * x\n"
    "x = torch.tensor(0.5, requires_grad=True)\ny = F.apply(x) * 2\ny.backward()\n",
    "library nll": "import torch.nn.functional as F\nv = torch.tensor([0.25, 1e-8], requires_grad=True)\n"
    "y = F.gaussian_nll_loss(torch.ones(2), torch.zeros(2), v, eps=1e-6, reduction='sum')\ny.backward()\n",
    "missing leaf": "w = torch.tensor([1.0, 2.0], requires_grad=True) * 0.1\ny = (w * w).sum()\ny.backward()\n"
    "print(w.grad)\n",
    "missing requires": "x = torch.tensor(2.0)\ny = x * x\ny.backward()\n",
    "missing item": "x = torch.tensor(2.0, requires_grad=True)\ny = torch.tensor(x.item()) ** 2\ny.backward()\n",
    "missing detach": "x = torch.tensor(2.0, requires_grad=True)\nh = x.detach() * 3.0\ny = h * h\ny.backward()\n",
    "missing numpy": "import numpy as np\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "m = np.mean(x.detach().numpy())\ny = torch.tensor(m) ** 2\ny.backward()\n",
    "missing no_grad": "x = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    h = x * 3.0\ny = h * h\n"
    "y.backward()\n",
    "state zero_grad": "w = torch.zeros(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
    "for k in range(3):\n    loss = ((w - 1.0) ** 2).sum()\n    loss.backward()\n    opt.step()\n",
    "state by hand": "w = torch.tensor(0.0, requires_grad=True)\nfor k in range(3):\n    loss = (w - 1.0) ** 2\n"
    "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
    "state history": "w = torch.tensor(0.5, requires_grad=True)\nh = torch.zeros(())\nfor k in range(2):\n"
    "    h = torch.tanh(w * h + 1.0)\n    loss = h ** 2\n    w.grad = None\n    loss.backward()\n",
}  # fmt: skip

JAX = {
    "nonfinite where": "def f(x):\n    return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))\n"
    "g = jax.grad(f)(jnp.array([-1.0, 4.0]))\n",
    "nonfinite norm": "def f(x):\n    return jnp.sqrt(jnp.sum(x * x)) ** 2\ng = jax.grad(f)(jnp.zeros(3))\n",
    "nonfinite softmax": "def f(z):\n    p = jnp.exp(z) / jnp.sum(jnp.exp(z))\n    return -jnp.log(p[1])\n"
    "g = jax.grad(f)(jnp.array([0.0, 200.0]))\n",
    "nonfinite power": "def f(x):\n    return jnp.sum(x ** jnp.array([0.0, 1.0]))\ng = jax.grad(f)(jnp.float32(0.0))\n",
    "rounding cos": "def f(x):\n    return (1.0 - jnp.cos(x)) / x ** 2\ng = jax.grad(f)(jnp.float32(1e-3))\n",
    "rounding scale": "def f(r):\n    return -1.3e26 / r\ng = jax.grad(f)(jnp.float32(1.2e19))\n",
    "rule sign": "@jax.custom_vjp\ndef f(x):\n    return jnp.cos(x)\ndef fwd(x):\n    return f(x), x\n"
    "def bwd(x, up):\n    return (up * jnp.sin(x),)\nf.defvjp(fwd, bwd)\nx = jnp.float32(0.5)\n"
    "g = jax.grad(lambda x: f(x) * 2.0)(x)\n",
    "rule other": "@jax.custom_vjp\ndef f(x):\n    return x * jnp.exp(x)\ndef fwd(x):\n    return f(x), x\n"
    "def bwd(x, up):\n    return (up * x * x,)\nf.defvjp(fwd, bwd)\nx = jnp.float32(0.5)\n"
    "g = jax.grad(lambda x: f(x) * 2.0)(x)\n",
    "library det": "a = jnp.array([[1.0, 0.5, 0.0, 0.25], [0.25, 1.0, 0.5, 0.0], [0.0, 0.5, 1.0, 0.5],"
    " [0.5, 0.0, 0.25, 1.0]])\ndef f(d):\n    return jnp.linalg.det(a * d[None, :])\n"
    "g = jax.grad(f)(jnp.array([0.0, 2.0, 3.0, 1.0]))\n",
    "library spence": "from jax.scipy.special import spence\ndef f(z):\n    return spence(1.0 - z)\n"
    "g = jax.grad(f)(jnp.float32(0.0))\n",
    "missing integer": "def f(x):\n    return jnp.sum(x ** 2)\ng = jax.grad(f)(jnp.arange(3))\n",
    "missing float": "def f(x):\n    return jnp.sin(float(x))\ng = jax.grad(f)(1.0)\n",
    "missing numpy": "import numpy as np\ndef f(x):\n    return jnp.sum(np.exp(x))\n"
    "g = jax.grad(f)(jnp.array([1.0, 2.0]))\n",
}  # fmt: skip

HEADS = {
    "tensorflow": "import tensorflow as tf\n",
    "torch": "import torch\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
}
SCRIPTS = {
    (framework, name): HEADS[framework] + body
    for framework, bodies in (("tensorflow", TENSORFLOW), ("torch", TORCH), ("jax", JAX))
    for name, body in bodies.items()
}

# Scripts that have no fault after all, or end before a gradient is seen.
CLEAN = {
    ("tensorflow", "nonfinite where log"),
    ("tensorflow", "nonfinite norm squared"),
    ("torch", "nonfinite bce"),
    ("torch", "missing item"),
}
UNMENDED: set[tuple[str, str]] = set()

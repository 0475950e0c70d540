"""Random functions of trees, by `jax.jit` and without it, also inside of `grad` and around it.

Both runs are on a device whose memory the host cannot read, and must give the same trees and bits.

    python tests/python/random_jit.py --first 0 --count 1000
"""

import numbus as nb
import numbus.compat.jax as jax
import numpy as np
from numbus import _core
from numbus.compat.jax import numpy as jnp
from random_nets import count_failures, parser_of_seeds

ONE = [
    jnp.sin, jnp.tanh, jnp.exp, jnp.abs, jnp.sqrt, jax.nn.relu, jax.nn.softmax,
    lambda x: x.T, lambda x: x[::-1], lambda x: x[1:], lambda x: jnp.cumsum(x, 0),
    lambda x: jnp.sort(x, 0), lambda x: x - x.mean(), lambda x: x / (1 + jnp.abs(x).max()),
    lambda x: x.at[0].set(1.5), lambda x: jnp.where(x > 0, x, -x * 0.1),
    lambda x: jnp.clip(x, -1, 1), lambda x: x**2, lambda x: jnp.pad(x, ((0, 1), (0, 0)))[:-1],
]  # fmt: skip
TWO = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, jnp.maximum,
    lambda a, b: jnp.where(a > b, a, b), lambda a, b: a @ b.T @ a,
]  # fmt: skip


def function_of(rng):
    """A function of a tree of matrices and a number."""
    plan = [
        (rng.random() < 0.5, int(rng.integers(len(ONE))), int(rng.integers(len(TWO))),
         rng.random() < 0.6, int(rng.integers(100)), int(rng.integers(100)))
        for _ in range(int(rng.integers(2, 9)))
    ]  # fmt: skip
    keeps = rng.random() < 0.5

    def f(tree, number):
        values = [*tree["a"], tree["b"]]
        for is_one, one, two, scales, i, j in plan:
            x, y = values[i % len(values)], values[j % len(values)]
            if is_one:
                made = ONE[one](x)
                values.append(made if made.shape == x.shape else made.sum() + x)
            else:
                values.append(TWO[two](x, y * number if scales else y))
        return {"last": values[-1], "more": (values[-2], values[0] if keeps else values[-1] * 2)}

    return f


def found(f, *args):
    """(the class of the error or None, the leaves with their types)."""
    try:
        made = f(*args)
    except (TypeError, ValueError, FloatingPointError) as error:
        return type(error), []
    return None, [
        (x.dtype, x.weak_type, nb.to_device(x._a, "cpu").to_numpy())
        for x in jax.tree_util.tree_leaves(made)
    ]


def difference(seed):
    """What differs between the runs of a seed, or None."""
    rng = np.random.default_rng(seed)
    f = function_of(rng)

    def total(tree, number):
        made = f(tree, number)
        return made["last"].sum() + made["more"][0].sum()

    g = jax.grad(total)
    pairs = [(f, jax.jit(f)), (g, jax.jit(g)), (g, jax.grad(jax.jit(total)))]
    names = ("value", "jit of grad", "grad of jit")
    for k in range(4):
        a, b, c = [jnp.array(x) for x in rng.standard_normal((3, 3, 3)).astype("f4")]
        tree = {"a": [a, b], "b": a if k == 3 else c}
        number = float(rng.uniform(0.5, 2))
        for name, (plain, jitted) in zip(names, pairs, strict=True):
            with jax.disable_jit():
                error, one = found(plain, tree, number)
            other_error, other = found(jitted, tree, number)
            if error is not other_error or len(one) != len(other):
                return f"call {k}, {name}: {error} and {other_error}"
            for x, y in zip(one, other, strict=True):
                if x[:2] != y[:2] or not np.array_equal(x[2], y[2], equal_nan=True):
                    return f"call {k}, {name}: {x} and {y}"
    return None


def main():
    options = parser_of_seeds().parse_args()
    nb.seterr(all="ignore")
    before = _core.recipe_answers()
    with nb.device(options.device):
        failed = count_failures(options, difference)
    print(f"{options.count} functions from {options.first}: {failed} differ; "
          f"{_core.recipe_answers() - before} calls needed no code")  # fmt: skip


if __name__ == "__main__":
    main()

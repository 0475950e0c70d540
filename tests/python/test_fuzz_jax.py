"""Calls of JAX's names that once differed from JAX (tests/fuzz/jax_calls.py), and programs after
its tutorials.
"""

import functools
import importlib.util
import json
import sys
from pathlib import Path

import numpy
import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
sys.path.append(str(FUZZ))
pytestmark = [pytest.mark.numbus]


def test_calls_that_differed():
    """None takes long: each is a call of small arrays."""
    # By its path, as another file has its name.
    spec = importlib.util.spec_from_file_location("fuzz_jax_calls", FUZZ / "jax_calls.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    names, compiled = tool.numbus_names()
    failures = []
    with numpy.errstate(all="ignore"):
        for line in (FUZZ / "regressions" / "jax_calls.jsonl").read_text("utf-8").splitlines():
            seed, text, wanted = json.loads(line)
            said = tool.check(text, wanted, names, compiled)
            if said not in ("alike", "both refuse"):
                failures.append(f"seed {seed}: {said}\n    {text}")
    assert not failures, "\n".join(failures)


@pytest.fixture
def jax():
    import numbus.compat.jax as jax

    return jax


def test_fixed_arguments_of_derivatives(jax):
    jnp = jax.numpy

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def applied(f, x, y):
        return f(x) * y

    def back(f, kept, g):
        return g * 10, g * f(kept[0])

    applied.defvjp(lambda f, x, y: (applied(f, x, y), (x, y)), back)
    by_x, by_y = jax.grad(applied, (1, 2))(jnp.sin, 2.0, 3.0)
    assert by_x == 10 and abs(by_y - numpy.sin(2)) < 1e-6
    assert abs(applied(jnp.sin, 2.0, y=3.0) - 3 * numpy.sin(2)) < 1e-6

    @functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
    def power(x, n):
        return x**n

    power.defjvp(lambda n, p, t: (power(p[0], n), 7 * n * t[0]))
    assert jax.grad(power)(2.0, 3) == 21
    assert jax.jvp(lambda x: power(x, 2), (3.0,), (1.0,)) == (9, 14)
    scaled = jax.custom_gradient(lambda x: (x**2, lambda g: (g * x * 5,)))
    assert jax.grad(scaled)(3.0) == 15

    policy = jax.checkpoint_policies.nothing_saveable
    kept = jax.checkpoint(lambda x, n: jnp.sin(x) ** n, static_argnums=(1,), policy=policy)
    assert abs(jax.hessian(lambda x: kept(x, 2))(1.0) - 2 * numpy.cos(2)) < 1e-5
    assert abs(jax.jvp(lambda x: kept(x, 2), (1.0,), (1.0,))[1] - numpy.sin(2)) < 1e-5
    assert jax.jvp(lambda x: (x * 2, x + 1), (1.0,), (1.0,), has_aux=True) == (2, 2, 2)


def test_stax_and_optimizers_train(jax):
    """As JAX has it: the loss of each optimizer after six steps from PRNGKey(0)."""
    from numbus.compat.jax.example_libraries import optimizers, stax

    jnp = jax.numpy
    init, net = stax.serial(
        stax.Conv(4, (3, 3), padding="SAME"), stax.BatchNorm(), stax.Relu,
        stax.MaxPool((2, 2), (2, 2)), stax.AvgPool((2, 2)), stax.Flatten, stax.Dense(8),
        stax.FanOut(2), stax.parallel(stax.Dense(6), stax.Dense(6)), stax.FanInSum, stax.Relu,
        stax.FanOut(2), stax.parallel(stax.Identity, stax.Dense(2)), stax.FanInConcat(),
        stax.Dense(3), stax.LogSoftmax,
    )  # fmt: skip
    shape, params = init(jax.random.PRNGKey(0), (-1, 8, 8, 1))
    assert shape == (-1, 3)
    x = jax.random.normal(jax.random.PRNGKey(1), (5, 8, 8, 1))
    y = jax.nn.one_hot(jnp.arange(5) % 3, 3)

    def loss(p):
        return -jnp.mean(jnp.sum(net(p, x) * y, axis=1))

    made = {
        optimizers.sgd(0.1): 0.40267286, optimizers.momentum(0.1, 0.9): 0.30699918,
        optimizers.nesterov(optimizers.exponential_decay(0.1, 10, 0.9), 0.9): 0.27351463,
        optimizers.adagrad(0.1): 0.38273746, optimizers.rmsprop(0.01): 0.37541664,
        optimizers.rmsprop_momentum(0.01): 1.067738, optimizers.adam(0.01): 0.38903016,
        optimizers.adamax(0.01): 0.46176153,
    }  # fmt: skip
    for (start, update, get), wanted in made.items():
        state = start(params)
        for i in range(6):
            gradient = optimizers.clip_grads(jax.grad(loss)(get(state)), 1.0)
            state = update(i, gradient, state)
        assert abs(loss(get(state)) - wanted) < 2e-5 * max(1, wanted)


def test_arguments_that_are_refused(jax):
    """What is not there says so rather than being left out."""
    jnp, np_error = jax.numpy, NotImplementedError
    a = jnp.arange(3.0)
    with pytest.raises(np_error, match="bucket_size"):
        jax.ops.segment_sum(a, jnp.array([0, 1, 0]), bucket_size=2)
    with pytest.raises(np_error, match="parameters"):
        jax.grad(lambda v: jax.scipy.special.gammainc(v, 2.0))(1.5)
    with pytest.raises(ValueError, match="unknown mode"):
        jnp.take(a, jnp.array([1]), mode="nearest")
    with pytest.raises(TypeError, match="integer"):
        jax.lax.switch(0.5, [lambda: 1, lambda: 2])
    with pytest.raises(ValueError, match="in-place"):
        jnp.put(a, 0, 1.0)
    with pytest.raises(OverflowError):
        jnp.asarray(-1.5, dtype=jnp.uint8)
    with pytest.raises(ValueError, match="without replacement"):
        jax.random.categorical(jax.random.key(0), a, shape=(4,), replace=False)

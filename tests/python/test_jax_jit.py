"""`jax.jit`: calls that are recorded again without the function's code give the same bits as the
function, also in and around `grad`. The device has memory that the host cannot read.
"""

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
import numbus.compat.jax as jax  # noqa: E402
from numbus import _core  # noqa: E402
from numbus.compat.jax import numpy as jnp  # noqa: E402
from numbus.compat.jax import random  # noqa: E402
from random_jit import difference  # noqa: E402

pytestmark = pytest.mark.cpu
CALLS = 5


@pytest.fixture(autouse=True)
def on_fenced():
    before = nb.seterr(all="ignore")
    with nb.device("fenced"):
        yield
    nb.seterr(**before)


def drawn(*shape, seed=0):
    return jnp.array(np.random.default_rng(seed).standard_normal(shape).astype("f4"))


def leaves(tree):
    found = jax.tree_util.tree_leaves(tree)
    return [np.asarray(nb.to_device(x._a, "cpu").to_numpy()) for x in found]


def check_alike(f, jitted, arguments):
    """The same trees, bits and types, at each of some calls, of which some need no code."""
    before = _core.recipe_answers()
    for k in range(CALLS):
        with jax.disable_jit():
            one = jax.tree_util.tree_map(jnp.asarray, f(*arguments(k)))
        other = jitted(*arguments(k))
        assert jax.tree_util.tree_structure(one) == jax.tree_util.tree_structure(other)
        for a, b in zip(jax.tree_util.tree_leaves(one), jax.tree_util.tree_leaves(other)):
            assert (a.dtype, a.shape, a.weak_type) == (b.dtype, b.shape, b.weak_type)
        for a, b in zip(leaves(one), leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)
    assert _core.recipe_answers() > before


@pytest.mark.parametrize("seed", range(20))
def test_sample_of_random_functions(seed):
    assert difference(seed) is None


def layers():
    return [{"w": drawn(4, 8, seed=1), "b": drawn(8, seed=2)},
            {"w": drawn(8, 3, seed=3), "b": drawn(3, seed=4)}]  # fmt: skip


def predict(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def step(params, x, y, rate):
    value, g = jax.value_and_grad(loss)(params, x, y)
    return jax.tree_util.tree_map(lambda p, d: p - rate * d, params, g), value


def batch(k):
    return layers(), drawn(5, 4, seed=10 + k), drawn(5, 3, seed=50 + k)


@pytest.mark.parametrize(
    ("f", "jitted"),
    [
        (loss, jax.jit(loss)),
        (jax.grad(loss), jax.jit(jax.grad(loss))),
        (jax.grad(loss), jax.grad(jax.jit(loss))),
        (jax.value_and_grad(loss), jax.value_and_grad(jax.jit(loss))),
        (jax.grad(loss), jax.jit(jax.grad(jax.jit(loss)))),
        (lambda p, x, y: predict(p, x), jax.jit(lambda p, x, y: predict(p, x))),
        (lambda p, x, y: {"p": p, "n": (p[0]["b"], x), "y": y + 1},
         jax.jit(lambda p, x, y: {"p": p, "n": (p[0]["b"], x), "y": y + 1})),
    ],
    ids=["value", "jit of grad", "grad of jit", "value_and_grad", "both", "predict", "trees"],
)  # fmt: skip
def test_trees_and_derivatives(f, jitted):
    check_alike(f, jitted, batch)


def test_training_steps_with_another_rate_each_time():
    jitted = jax.jit(step, donate_argnums=0)
    runs = []
    for each in (step, jitted):
        params, values = layers(), []
        before = _core.recipe_answers()
        for k in range(8):
            params, value = each(params, *batch(k)[1:], 0.1 / (k + 1))
            values.append(value)
        runs.append(leaves((params, values)))
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert _core.recipe_answers() >= before + 7


EXPRESSIONS = {
    "sorted": lambda x, n: jnp.sort(x, axis=1)[:, ::-1],
    "where": lambda x, n: jnp.where(x > 0, x, n),
    "sums": lambda x, n: (x.sum(0), x.mean(), jnp.cumsum(x, 1), x.argmax(1)),
    "at": lambda x, n: x.at[1].set(n).at[:, 0].add(2),
    "softmax": lambda x, n: jax.nn.softmax(x * n),
    "power": lambda x, n: x**n,
    "integers": lambda x, n: (x * 3).astype(jnp.int32) // 2,
    "matrices": lambda x, n: jnp.linalg.solve(x.T @ x + jnp.eye(3), x.T),
    "joined": lambda x, n: jnp.concatenate([x, x * n]).reshape(-1),
    "twice": lambda x, n: (x, x, x * 1),
    "nothing": lambda x, n: (None, [], x + n),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("n", [2, 1.5], ids=["int", "float"])
def test_expressions(name, n):
    f = EXPRESSIONS[name]
    jitted, known = jax.jit(f), jax.jit(f, static_argnums=1)
    for k in range(CALLS):
        x = drawn(4, 3, seed=k)
        one = f(x, jnp.asarray(n) if name == "power" else n)
        for a, b in zip(leaves(one), leaves(jitted(x, n)), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(leaves(f(x, n)), leaves(known(x, n)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_static_arguments_are_told_apart():
    jitted = jax.jit(lambda x, n, kind="sum": getattr(x, kind)() * n, static_argnums=1,
                     static_argnames="kind")  # fmt: skip
    for k in range(CALLS):
        x = jnp.arange(3.0) + k
        for n in (1, True, 2, 2.0):
            for kind in ("sum", "max"):
                made = jitted(x, n, kind=kind)
                np.testing.assert_array_equal(
                    leaves(made)[0], getattr(np.arange(3.0) + k, kind)() * n
                )


def test_what_asks_for_values_runs_as_python(capsys):
    def f(x):
        if x.sum() > 0:
            return x * 2
        return {"negative": x}

    jitted = jax.jit(f)
    for k in range(2 * CALLS):
        made = jitted(jnp.array([1.0 if k % 2 else -1.0]))
        assert isinstance(made, dict) == (k % 2 == 0)

    @jax.jit
    def speaks(x):
        jax.debug.print("x is {}", x.shape)
        return x + 1

    for _ in range(CALLS):
        speaks(jnp.arange(3.0))
    assert capsys.readouterr().out.count("x is (3,)") == CALLS


def test_functions_run_once_for_each_kind_of_arguments():
    calls = []

    @jax.jit
    def f(x):
        calls.append(x.shape)
        return x * 2

    for k in range(CALLS):
        for n in (2, 3):
            np.testing.assert_array_equal(
                leaves(f(jnp.arange(float(n)) + k))[0], 2 * (np.arange(n) + k)
            )
    assert calls == [(2,), (3,)]
    f.clear_cache()
    f(jnp.arange(2.0))
    assert len(calls) == 3


def test_keys_and_settings():
    f = lambda key, x: x + random.normal(key, x.shape)  # noqa: E731
    jitted = jax.jit(f)
    for k in range(CALLS):
        key = random.key(k)
        for a, b in zip(leaves(f(key, drawn(3))), leaves(jitted(key, drawn(3))), strict=True):
            np.testing.assert_array_equal(a, b)
    wide = jax.jit(lambda x: x * jnp.arange(3) + jnp.ones(3))
    for _ in range(CALLS):
        assert wide(jnp.arange(3)).dtype == np.float32
        with jax.enable_x64():
            assert wide(jnp.arange(3)).dtype == np.float64


def test_arguments_that_are_one_array():
    jitted = jax.jit(lambda x, y: x * 2 + y)
    for k in range(CALLS):
        x, y = drawn(3, seed=k), drawn(3, seed=k + 9)
        for a, b in ((x, y), (x, x), (y, x)):
            np.testing.assert_array_equal(leaves(jitted(a, b))[0], leaves(a * 2 + b)[0])


def test_derivatives_of_what_is_closed_over():
    def outer(w, x):
        inner = jax.jit(lambda x: jnp.sin(x * w).sum())
        return inner(x) + inner(x + 1)

    for k in range(CALLS):
        w, x = drawn(3, seed=k), drawn(3, seed=k + 5)
        with jax.disable_jit():
            expected = jax.grad(outer)(w, x)
        np.testing.assert_array_equal(leaves(jax.grad(outer)(w, x))[0], leaves(expected)[0])


def test_errors_come_as_they_do_without_it():
    jitted = jax.jit(lambda x, y: x @ y)
    for _ in range(CALLS):
        jitted(jnp.ones((2, 3)), jnp.ones((3, 2)))
        with pytest.raises((TypeError, ValueError)):
            jitted(jnp.ones((2, 3)), jnp.ones((2, 3)))


def test_views_at_other_offsets():
    jitted = jax.jit(lambda x: jnp.sin(x).sum())
    rows = drawn(40, 3)
    for k in range(40):
        np.testing.assert_array_equal(leaves(jitted(rows[k]))[0], leaves(jnp.sin(rows[k]).sum())[0])
    batch = jax.vmap(jitted)(rows)
    expected = jax.vmap(lambda x: jnp.sin(x).sum())(rows)
    np.testing.assert_array_equal(leaves(batch)[0], leaves(expected)[0])


def test_a_function_within_that_sees_arrays_of_the_outer_one():
    """What an inner function closes over is another array at each call of the outer one."""
    seen = {}

    @jax.jit
    def inner(y):
        return y * seen["x"]

    def outer(x, asks):
        seen["x"] = x + 1
        made = inner(x)
        return made if not asks or float(made.sum()) > -1e9 else x

    for asks in (False, True):  # recorded again, or run by Python
        compiled = jax.jit(outer, static_argnums=1)
        for k in range(5):
            x = jnp.arange(3.0) + k
            got = compiled(x, asks)
            np.testing.assert_array_equal(np.asarray(got), np.asarray(x * (x + 1)))

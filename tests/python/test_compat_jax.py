"""The names of jax against values that JAX gave (tests/jax_values), and scripts that import it."""

import pathlib
import subprocess
import sys

import numpy
import pytest
from numbus.compat.rewrite import compile_user

FOLDER = pathlib.Path(__file__).parents[1] / "jax_values"
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import jax_calls  # noqa: E402
import recorded  # noqa: E402

pytestmark = [pytest.mark.numbus]

# What is another result on purpose, or refused (docs/compat.md).
REFUSED = {
    "jnp.deg2rad(ar('complex64'))": "no complex angles",
    "jnp.rad2deg(ar('complex64'))": "no complex angles",
    "2 ** ar('int32')": "integers to negative powers raise, as with NumPy",
}


def _names():
    names = {"__name__": "__main__"}
    exec(compile_user(jax_calls.SETUP, "<string>"), names)
    return names


def _failures(x64, part):
    names = _names()
    failures = []
    names["jax"].config.update("jax_enable_x64", x64)
    try:
        of_kind = [
            (call, expected) for call, expected in recorded.read(FOLDER / "jax_calls.txt")
            if call.startswith("x64 ") == x64
        ]  # fmt: skip
        for call, expected in of_kind[part::4]:
            call = call.removeprefix("x64 ")
            got = recorded.evaluated(compile_user(call, "<string>", "eval"), names)
            if isinstance(expected, list) and expected[:1] == ["raises"]:
                continue  # what JAX refuses may work here
            told = recorded.differs(got, expected)
            if told and call not in REFUSED:
                failures.append(f"{call}: {told}")
    finally:
        names["jax"].config.update("jax_enable_x64", False)
    return failures


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("x64", [False, True])
def test_calls_give_what_jax_gives(x64, part):
    """Dtypes, weak types, shapes and elements of some 2,200 expressions."""
    with numpy.errstate(all="ignore"):
        failures = _failures(x64, part)
    assert not failures, "\n".join([f"{len(failures)} differ", *failures[:40]])


def test_what_is_refused_differs():
    """The list above names nothing that agrees."""
    known = dict(recorded.read(FOLDER / "jax_calls.txt"))
    names = _names()
    for call in REFUSED:
        got = recorded.evaluated(compile_user(call, "<string>", "eval"), names)
        assert recorded.differs(got, known[call]), call


MESSAGES = {
    "ar('int32').__setitem__(0, 1)": (TypeError, "immutable and do not support"),
    "ar('int32')[[0, 1]]": (TypeError, "non-tuple sequence"),
    "ar('int32')[0.5]": (TypeError, "integer or boolean type"),
    "ar('int32')[0, 0]": (IndexError, "Too many indices"),
    "jnp.sum([1, 2], size=3)": (NotImplementedError, "size="),
    "jnp.exp([1.0])": (TypeError, "exp requires ndarray or scalar"),
    "ar('float32') + jnp.ones(3)": (TypeError, "incompatible shapes for broadcasting"),
    "hash(ar('int32'))": (TypeError, "unhashable"),
    "float(ar('float32'))": (TypeError, "Only scalar arrays"),
    "jnp.zeros(3).at[jnp.array([7])].set(1.0, mode='promise_in_bounds').tolist()": (
        IndexError,
        "out of bounds",
    ),
    "jnp.zeros(3).at[0].set(1.0, mode='what')": (ValueError, "unknown mode"),
    "jnp.safe_eval": (AttributeError, "does not serve yet"),
    "jax.shard_map": (AttributeError, "jax.shard_map"),
    "jax.grad(lambda x: x)(1)": (TypeError, "real-valued inputs"),
    "jax.grad(lambda x: x * 2)(jnp.ones(2))": (TypeError, "Output had shape: (2,)"),
    "jax.grad(lambda x: 1)(1.0)": (TypeError, "real-valued outputs"),
    "jax.grad(lambda x: x, argnums=2)(1.0)": (ValueError, "positional arguments"),
    "jax.vmap(lambda a, b: a + b)(jnp.ones(3), jnp.ones(4))": (ValueError, "sizes"),
    "jax.vmap(lambda a: a, in_axes=(0, 1))(jnp.ones(3))": (ValueError, "in_axes"),
    "jax.vmap(jax.grad(lambda a: a * lax.pmax(a, 'i')), axis_name='i')(jnp.ones(3))": (
        NotImplementedError,
        "has no derivative",
    ),
    "jax.vmap(jax.vmap(lambda b: lax.all_gather(b, 'i')), axis_name='i')(jnp.ones((3, 2)))": (
        NotImplementedError,
        "an axis outside of another vmap",
    ),
    "jax.jit(lambda s: 1)('text')": (TypeError, "static_argnums"),
    "jax.jit(lambda s: 1, static_argnums=0)([1])": (ValueError, "Non-hashable"),
    "jax.config.update('jax_debug_nans', True)": (NotImplementedError, "jax_debug_nans"),
    "jax.tree.map(lambda a, b: a, [1, 2], [1])": (ValueError, "different forms"),
    "random.uniform(3, (2,))": (TypeError, "not a key"),
    "random.uniform(random.split(random.key(0)), (2,))": (ValueError, "single key"),
    "random.multinomial(random.key(0), 3, jnp.ones(2) / 2, shape=(2, 3))": (
        ValueError,
        "the last axis of shape",
    ),
    **{
        call: (OverflowError, "out of bounds for int32")
        for call in (
            "jnp.sum(2**40)",
            "jnp.max(-2**31 - 1)",
            "jnp.sum(2**31)",
            "jnp.dot(2**40, 2)",
            "jnp.stack([2**40, 1])",
            "jnp.append(jnp.arange(3), 2**40)",
            "jnp.isin(jnp.arange(3), 2**40)",
            "jnp.searchsorted(jnp.arange(3), 2**40)",
            "jnp.linspace(0, 2**40, 3)",
            "jnp.sum(jnp.arange(3), initial=2**40)",
            "jnp.nan_to_num(jnp.ones(2), nan=2**40)",
            "jnp.select([jnp.ones(2) > 0], [2**40], 0)",
            "jnp.interp(2**40, [0.0], [0.0])",
            "jnp.tile(2**40, 2)",
            "jnp.ravel(2**40)",
            "jnp.round(2**40)",
            "jnp.argmax(2**40)",
        )
    },
    "random.binomial(random.key(0), 3, 0.5, dtype='i4')": (TypeError, "floating-point dtype"),
    "random.gamma(random.key(0), jnp.ones(3), (2,))": (ValueError, "broadcast"),
    "jax.grad(jax.grad(lambda a: random.gamma(random.key(0), a)))(1.0)": (
        NotImplementedError,
        "second derivatives",
    ),
    "lax.scan(lambda c, x: c, 0, jnp.ones(2))": (TypeError, "not a pair"),
    "lax.fori_loop(0, 2, lambda i, v: v.astype(int), jnp.ones(2))": (TypeError, "carry"),
    "lax.psum(1, 'i')": (NameError, "unbound axis name"),
}


@pytest.mark.parametrize("call", MESSAGES)
def test_message(call):
    kind, text = MESSAGES[call]
    with pytest.raises(kind) as found:
        eval(compile_user(call, "<string>", "eval"), _names())
    assert text in str(found.value)


def test_results_do_not_follow_what_is_written_to_a_source():
    """JAX's arrays are values: arrays of NumPy's that they were made of may change."""
    names = _names()
    program = """
import numpy as np
source = np.arange(3.0, dtype=np.float32)
held = jnp.asarray(source), jnp.array(source), jnp.add(source, 0), source + jnp.zeros(3)
source[:] = 9
host = np.array(held[0])
host[0] = 7
"""
    exec(compile_user(program, "<string>"), names)
    for x in names["held"]:
        assert x.tolist() == [0, 1, 2]


MLP = """
import jax
import jax.numpy as jnp
from jax import grad, jit, random, vmap


def weights(key, *sizes):
    made = []
    for n, m in zip(sizes, sizes[1:]):
        key, first, second = random.split(key, 3)
        w, b = 0.3 * random.normal(first, (m, n)), 0.1 * random.uniform(second, (m,))
        made.append({"w": w, "b": b})
    return made


def scores(net, x):
    *hidden, last = net
    for layer in hidden:
        x = jax.nn.relu(layer["w"] @ x + layer["b"])
    return jax.nn.log_softmax(last["w"] @ x + last["b"])


def misfit(net, xs, ys):
    found = vmap(scores, in_axes=(None, 0))(net, xs)
    return -jnp.mean(jnp.sum(found * ys, axis=1))


@jit
def step(net, xs, ys):
    return jax.tree.map(lambda p, g: p - 0.5 * g, net, grad(misfit)(net, xs, ys))


labels = jnp.arange(30) % 3
xs = random.normal(random.key(1), (3, 8))[labels] + 0.1 * random.normal(random.key(2), (30, 8))
net = weights(random.PRNGKey(0), 8, 16, 3)
for _ in range(6):
    net = step(net, xs, jax.nn.one_hot(labels, 3))
    print(f"{misfit(net, xs, jax.nn.one_hot(labels, 3)):.4f}")
print(jnp.mean(jnp.argmax(vmap(lambda x: scores(net, x))(xs), axis=1) == labels))
"""
# What JAX 0.10.2 prints for it.
MLP_PRINTS = ["0.5581", "0.4417", "0.3571", "0.2896", "0.2348", "0.1902", "1.0"]


def _printed(program, folder):
    file = folder / "program.py"
    file.write_text(program)
    found = subprocess.run(
        [sys.executable, "-m", "numbus", str(file)], capture_output=True, text=True, cwd=folder,
        check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout.splitlines()


def test_mlp_prints_what_jax_prints(tmp_path):
    got = _printed(MLP, tmp_path)
    assert [float(x) for x in got] == pytest.approx([float(x) for x in MLP_PRINTS], abs=2e-4)


AT_PARTS = [(9,), (-4, slice(1, 3)), (1, 7), ([0, 5, 2, -9],), ([2, 7], [1, 1]), ([0, 2], [3, 9]),
            (slice(None), [1, 9]), (slice(1, None), [1, 9, -1]), (1, [0, 7]), ([0, 0, 3], 2),
            ([[0, 4], [1, -1]],), (..., [3, -5]), ([], 1), ([1, 9], slice(0, 3, 2))]  # fmt: skip


@pytest.mark.parametrize("op", ["set", "add", "multiply", "max"])
@pytest.mark.parametrize("mode", [None, "drop", "fill"])
@pytest.mark.parametrize("key", AT_PARTS, ids=repr)
def test_updates_beyond_an_axis_are_left_out(key, mode, op):
    names = _names()
    jnp = names["jnp"]
    x = numpy.arange(12, dtype="f4").reshape(3, 4) + 1
    # Which elements an index names is asked of an array with room on both sides.
    n = 16
    numbers = numpy.full((2 * n, 2 * n), -1)
    numbers[n : n + 3, n : n + 4] = numpy.arange(12).reshape(3, 4)

    def moved(part, extent):
        if isinstance(part, slice):
            return slice(*[n + k for k in part.indices(extent)[:2]], part.step)
        k = numpy.array(part, dtype=int)
        return n + numpy.where(k < 0, k + extent, k)

    parts = (slice(None), *key[1:]) if key[0] is Ellipsis else (*key, slice(None))[:2]
    found = numbers[moved(parts[0], 3), moved(parts[1], 4)]
    values = 0.5 + numpy.arange(found.size, dtype="f4").reshape(found.shape)
    flat = x.copy().reshape(-1)
    for k, v in zip(found.reshape(-1), values.reshape(-1), strict=True):
        if k >= 0:
            one = {"set": v, "add": flat[k] + v, "multiply": flat[k] * v, "max": max(flat[k], v)}
            flat[k] = one[op]
    index = tuple([jnp.array(k, dtype=int) if isinstance(k, list) else k for k in key])
    source = jnp.array(x)
    got = getattr(source.at[index], op)(jnp.array(values), mode=mode)
    numpy.testing.assert_array_equal(numpy.asarray(got), flat.reshape(3, 4))
    numpy.testing.assert_array_equal(numpy.asarray(source), x)


def test_gradients_pass_updates_at_indices_without_axes():
    names = _names()
    jax, jnp = names["jax"], names["jnp"]
    f = lambda v, i: (v.at[i].set(v[0]) ** 2).sum()  # noqa: E731
    x, i = jnp.arange(6.0).reshape(2, 3), jnp.array([1, 2])
    wanted = numpy.array([[0.0, 0.0, 4.0], [12.0, 8.0, 0.0]])
    numpy.testing.assert_array_equal(numpy.asarray(jax.vmap(jax.grad(f))(x, i)), wanted)
    numpy.testing.assert_array_equal(numpy.asarray(jax.jit(jax.grad(f))(x[1], i[1])), wanted[1])
    for k in (2, i[1], jnp.array(2), numpy.int32(2)):
        numpy.testing.assert_array_equal(numpy.asarray(jax.grad(f)(x[1], k)), wanted[1])


def test_axes_without_elements():
    jnp = _names()["jnp"]
    empty = jnp.zeros((3, 0)).at[jnp.array([0]), jnp.array([0])].set(1.0)
    assert numpy.asarray(empty).shape == (3, 0)


@pytest.mark.parametrize("key", AT_PARTS, ids=repr)
def test_what_is_beyond_an_axis_is_filled(key):
    jnp = _names()["jnp"]
    x = numpy.arange(12, dtype="f4").reshape(3, 4)
    wide = numpy.full((3 + 20, 4 + 20), -1, "f4")
    wide[10:13, 10:14] = x
    parts = (slice(None), *key[1:]) if key[0] is Ellipsis else (*key, slice(None))[:2]

    def moved(part, extent):
        if isinstance(part, slice):
            return slice(*[10 + k for k in part.indices(extent)[:2]], part.step)
        k = numpy.array(part, dtype=int)
        return 10 + numpy.where(k < 0, k + extent, k)

    wanted = wide[moved(parts[0], 3), moved(parts[1], 4)]
    index = tuple([jnp.array(k, dtype=int) if isinstance(k, list) else k for k in key])
    got = jnp.array(x).at[index].get(mode="fill", fill_value=-1)
    numpy.testing.assert_array_equal(numpy.asarray(got), wanted)


def test_derivatives_of_derivatives_of_ones_own():
    names = _names()
    jax, jnp = names["jax"], names["jnp"]

    @jax.custom_vjp
    def f(x):
        return jnp.sin(x)

    # The forward pass may call the function itself.
    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * jnp.cos(x),))
    slopes = [f, jax.grad(f), jax.grad(jax.grad(f)), jax.grad(jax.grad(jax.grad(f)))]
    numpy.testing.assert_allclose(
        [float(slope(0.5)) for slope in slopes],
        [numpy.sin(0.5), numpy.cos(0.5), -numpy.sin(0.5), -numpy.cos(0.5)],
        rtol=1e-6,
    )
    twice = jax.grad(jax.grad(lambda x: x * jnp.abs(x)))
    assert (float(twice(-2.0)), float(twice(3.0))) == (-2, 2)


MULTINOMIAL = {
    "random.multinomial(random.key(3), 10, jnp.array([.2, .3, .5]))": [1, 3, 6],
    "random.multinomial(random.key(3), 100., jnp.array([[.2, .3, .5], [.1, .1, .8]]))": [
        [19, 28, 53], [12, 10, 78],
    ],
    "random.multinomial(random.key(3), jnp.array([5, 50]), jnp.array([.2, .0, .5, .3]), "
    "shape=(3, 2, 4))": [
        [[1, 0, 2, 2], [12, 0, 26, 12]], [[2, 0, 2, 1], [10, 0, 30, 10]],
        [[0, 0, 1, 4], [12, 0, 19, 19]],
    ],
    "random.multinomial(random.PRNGKey(1), 1000, jnp.ones(5) / 5)": [214, 186, 185, 211, 204],
}  # fmt: skip


def test_multinomial_has_the_numbers_of_jax():
    """Of JAX 0.10.2 on a CPU."""
    names = _names()
    for call, expected in MULTINOMIAL.items():
        found = eval(compile_user(call, "<string>", "eval"), names)
        assert numpy.asarray(found).tolist() == expected


SECOND = {  # as JAX 0.10.2 gives them, at 1, 2 and 3
    "lax.psum(b**3, 'i')": [18, 36, 54],
    "lax.psum(b**3, 'i') * b": [87, 150, 231],
    "lax.pmean(b**3, 'i') * b": [29, 50, 77],
    "jnp.sum(lax.all_gather(b**3, 'i') * b)": [87, 150, 231],
    "lax.ppermute(b**3, 'i', [(0, 1), (1, 2), (2, 0)]) * b": [42, 51, 57],
}


def test_second_derivatives_through_named_axes():
    names = _names()
    exec(compile_user("import jax\nfrom jax import lax\nimport jax.numpy as jnp", "<s>"), names)
    for body, expected in SECOND.items():
        for of in ("jax.grad(jax.grad(f))", "jax.hessian(f)", "jax.jacrev(jax.grad(f))"):
            call = f"jax.vmap({of.replace('f)', f'lambda b: {body})')}, axis_name='i')"
            found = eval(compile_user(f"{call}(jnp.array([1., 2., 3.]))", "<s>", "eval"), names)
            numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-6)


SLOPES = {  # by JAX 0.10.2
    "jax.grad(lambda a: jnp.sum(random.gamma(random.key(3), a, (4,))))(2.0)": 3.625977,
    "jax.grad(lambda a: jnp.sum(random.loggamma(random.key(3), a, (4,))))(0.3)": 32.533596,
    "jax.grad(lambda a: jnp.sum(random.beta(random.key(3), a, 2., (4,))))(1.5)": 0.6617379,
    "jax.grad(lambda a: jnp.sum(random.chisquare(random.key(3), a, shape=(3,))))(2.5)": 2.9795346,
    "jax.grad(lambda a: jnp.sum(random.t(random.key(3), a, (3,))))(2.5)": 0.2049389,
    "jax.grad(lambda a: jnp.sum(random.dirichlet(random.key(3), a) * jnp.arange(3)))("
    "jnp.array([1., 2., 3.]))": [-0.07301999, -0.0691497, 0.02384963],
    "jax.vmap(jax.grad(lambda a: random.gamma(random.key(3), a)))("
    "jnp.array([.1, .5, 1., 3., 20.]))": [0.08187895, 0.61951756, 0.32766476, 0.6673419, 0.8794034],
}


def test_derivatives_by_the_parameters_of_gamma():
    names = _names()
    exec(compile_user("import jax\nimport jax.numpy as jnp", "<s>"), names)
    for call, expected in SLOPES.items():
        found = numpy.asarray(eval(compile_user(call, "<s>", "eval"), names))
        numpy.testing.assert_allclose(found, expected, rtol=1e-5)


def test_slopes_of_gamma_keep_the_probability():
    """The quantile of the same probability for parameters nearby, of SciPy."""
    import numbus as nb
    from numbus.compat._gamma import gamma_slope
    from scipy.special import digamma, gammainc, gammaincc, gammainccinv, gammaincinv

    a = numpy.array([0.05, 0.3, 0.9, 1.0, 2.5, 10.0, 80.0, 700.0, 3e4])
    for part in (0.02, 0.3, 0.7, 0.98):
        x = gammaincinv(a, part)
        slope = numpy.asarray(gamma_slope(nb.array(a), nb.array(numpy.log(x)),
                                           nb.array(digamma(a + 1)))) * x  # fmt: skip
        step = a * 1e-5
        if part < 0.5:
            p = gammainc(a, x)
            sides = gammaincinv(a + step, p) - gammaincinv(a - step, p)
        else:
            p = gammaincc(a, x)
            sides = gammainccinv(a + step, p) - gammainccinv(a - step, p)
        numpy.testing.assert_allclose(slope, sides / (2 * step), rtol=2e-5)


def test_lists_are_no_arrays():
    import numbus.compat.jax as jax
    import numbus.compat.jax.numpy as jnp

    a = jnp.arange(3.0)
    for name in ("sum", "mean", "max", "std", "sort", "argmax", "any", "ravel", "unique"):
        for given in ([1.0, 2.0], (1.0, 2.0), [a, a]):
            with pytest.raises(TypeError):
                getattr(jnp, name)(given)
        getattr(jnp, name)(a)
    for name in ("dot", "outer", "cross", "allclose", "append", "kron"):
        for given in (([1.0, 2.0, 3.0], a), (a, (1.0, 2.0, 3.0))):
            with pytest.raises(TypeError):
                getattr(jnp, name)(*given)
    for compare in (lambda: a == [1, 2, 3], lambda: [1, 2, 3] != a, lambda: a == (1, 2, 3)):
        with pytest.raises(TypeError):
            compare()
    for condition in (lambda x: x, lambda x: (x < 3,), lambda x: jnp.ones(2) > x):
        with pytest.raises(TypeError):
            jax.lax.while_loop(condition, lambda x: x + 1, 1)
    assert jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, 0) == 3


def test_vectorize_with_a_signature():
    from numbus.compat.jax import numpy as jnp

    product = jnp.vectorize(lambda m, v: m @ v, signature="(n,m),(m)->(n)")
    m, v = numpy.arange(24.0).reshape(4, 2, 3), numpy.arange(15.0).reshape(5, 1, 3)
    found = numpy.asarray(product(jnp.array(m), jnp.array(v)))
    assert numpy.allclose(found, numpy.einsum("bnm,abm->abn", m, numpy.broadcast_to(v, (5, 4, 3))))
    with pytest.raises(ValueError, match="do not fit the signature"):
        product(jnp.ones((2, 3)), jnp.ones(4))


LISTS = (
    "jnp.cumsum(L)", "jnp.stack([L, L])", "jnp.stack([a, L])", "jnp.hstack([L, L])",
    "jnp.concatenate([L, a])", "jnp.reshape(L, (3, 1))", "jnp.take(a, [0, 1])",
    "jnp.einsum('i,i', a, L)", "jnp.percentile(L, 50)", "jnp.zeros_like(L)",
    "jnp.meshgrid(a, L)", "jnp.select([[True]], [a])", "jnp.linspace(L, 4.0, 3)",
    "jnp.linalg.inv([L, L, L])", "jnp.linalg.norm(L)", "jnp.linalg.solve(m, L)",
    "jnp.linalg.multi_dot([[L], m])", "jnp.fft.fft(L)", "jax.nn.relu(L)", "jax.nn.softmax(L)",
    "jax.nn.logsumexp(L)", "jax.scipy.special.expit(L)", "jax.lax.cumsum(L)",
    "jax.lax.concatenate([L, L], 0)", "jax.lax.top_k(L, 2)", "jax.random.choice(key, [1, 2, 3])",
    "jax.random.permutation(key, [1, 2])", "jax.random.categorical(key, L)",
)  # fmt: skip


def test_lists_are_refused_where_jax_refuses_them():
    import numbus.compat.jax as jax
    import numbus.compat.jax.numpy as jnp

    names = {"jax": jax, "jnp": jnp, "L": [1.0, 2.0, 3.0], "a": jnp.arange(3.0), "m": jnp.eye(3),
             "key": jax.random.PRNGKey(0)}  # fmt: skip
    for call in LISTS:
        with pytest.raises(TypeError):
            eval(call, names)
    taken = ("jnp.stack([a, a])", "jnp.hstack((1.0, 2.0))", "jnp.where([True, False], 1, 2)",
             "jax.nn.one_hot([0, 1], 2)", "jnp.array(L)", "jnp.shape(L)", "jnp.full(3, 1.0)",
             "jnp.concatenate(m)", "jnp.linalg.norm(m, None, (0, 1))")  # fmt: skip
    for call in taken:
        eval(call, names)
    with pytest.raises(ValueError, match="scan"):
        jax.lax.scan(lambda c, x: (c + x, c), 0.0, [1.0, 2.0])
    with pytest.raises(NotImplementedError, match=r"jax\.jit"):
        jax.make_jaxpr(lambda x: x)


def test_vectorize_leaves_arguments_out():
    from numbus.compat.jax import numpy as jnp

    a = jnp.arange(3.0)
    assert jnp.vectorize(lambda x, p: x * p[1], excluded={1})(a, [5.0, 2.0]).tolist() == [0, 2, 4]
    scaled = jnp.vectorize(lambda x, k=1.0: x * k, excluded={"k"})
    assert scaled(a).tolist() == [0, 1, 2] and scaled(a, k=3.0).tolist() == [0, 3, 6]
    chosen = jnp.vectorize(lambda x, how, y: x * y if how == "times" else x, excluded={1})
    assert chosen(a[:2, None], "times", a).tolist() == [[0, 0, 0], [0, 1, 2]]
    dots = jnp.vectorize(lambda u, v, k: (u @ v) * k, signature="(n),(n)->()", excluded=(2,))
    assert dots(jnp.eye(2), jnp.ones(2), 4.0).tolist() == [4, 4]
    pair = jnp.vectorize(lambda x, y: (x, 2 * x if y is None else y))(a, None)
    assert [p.tolist() for p in pair] == [[0, 1, 2], [0, 2, 4]]
    with pytest.raises(TypeError, match="keywords"):
        scaled(a, x=a)
    for wrong, error in (({-1}, ValueError), ({1.5}, TypeError)):
        with pytest.raises(error):
            jnp.vectorize(lambda x: x, excluded=wrong)

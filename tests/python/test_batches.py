"""`nb.vmap`: functions of one example, done for a batch at once, against calls for each index."""

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from conftest import DEVICE  # noqa: E402
from numbus import _core, nn  # noqa: E402
from numbus.compat import jax, torch  # noqa: E402
from numbus.core.operands import to_numpy  # noqa: E402
from random_batches import difference  # noqa: E402

jnp = jax.numpy


@pytest.fixture
def told(monkeypatch):
    """What became of each batch: True, or why its examples were taken one after the other."""
    found = []
    before = _core.record_batch

    def record_batch(*given):
        made = before(*given)
        found.append(made[0] if len(made) == 3 else True)
        return made

    monkeypatch.setattr(_core, "record_batch", record_batch)
    return found


def drawn(*shape, seed=0):
    return nb.array(np.random.default_rng(seed).standard_normal(shape))


def same(found, rows, axis=0):
    want = np.stack([to_numpy(r) for r in rows], axis)
    found = to_numpy(found)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("derivative", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed, derivative):
    devices = ["cpu", "fenced"] if DEVICE == "cpu" else [DEVICE]
    for device in devices:
        assert difference(seed, device, derivative)[0] is None


@pytest.mark.cpu
def test_random_functions_where_devices_are_chosen(by_cost):
    by_cost(64)
    for seed in range(60, 90):
        assert difference(seed, None)[0] is None


def test_most_are_done_at_once():
    done = [difference(seed, DEVICE)[1] for seed in range(60)]
    assert sum(done) > 45


def test_trees_keywords_and_axes(told):
    def f(p, x, *, scale):
        return {"a": p["w"] @ x * scale, "b": (x.sum(), x[0])}

    p = {"w": drawn(3, 4)}
    x, s = drawn(4, 5), drawn(5, seed=1)
    found = nb.vmap(f, in_axes=(None, 1), out_axes=0)(p, x, scale=s)
    rows = [f(p, x[:, k], scale=s[k]) for k in range(5)]
    same(found["a"], [r["a"] for r in rows])
    same(found["b"][1], [r["b"][1] for r in rows])
    pair = nb.vmap(lambda v: (v, v.sum()), out_axes=(1, 0))(x)
    assert pair[0].shape == (5, 4) and pair[1].shape == (4,)
    assert told == [True, True]


def test_what_is_the_same_for_all_is_repeated(told):
    x = drawn(3, 2)
    found = nb.vmap(lambda v: nb.arange(4))(x)
    assert told == [True]
    np.testing.assert_array_equal(to_numpy(found), np.tile(np.arange(4), (3, 1)))
    found = nb.vmap(lambda v: 2.5)(x)
    np.testing.assert_array_equal(to_numpy(found), [2.5] * 3)


def test_a_batch_of_a_batch(told):
    x, y = drawn(3, 4), drawn(5, 4, seed=1)
    f = lambda a, b: (nb.tanh(a) * b).sum()  # noqa: E731
    found = nb.vmap(nb.vmap(f, (None, 0)), (0, None))(x, y)
    np.testing.assert_allclose(to_numpy(found), np.tanh(to_numpy(x)) @ to_numpy(y).T, rtol=1e-12)
    assert told == [True, True]  # the inner one, within the outer one


def test_derivatives_pass_through(told):
    x, w = drawn(6, 3), drawn(3, seed=1)
    loss = lambda w: nb.vmap(lambda v: nb.sin(v @ w) * v.max())(x).sum()  # noqa: E731
    plain = lambda w: sum(nb.sin(v @ w) * v.max() for v in x)  # noqa: E731
    same(nb.grad(loss)(w)[None], [nb.grad(plain)(w)])
    each = nb.vmap(nb.grad(lambda v: nb.sin(v @ w) * v.max()))(x)
    same(each, [nb.grad(lambda v: nb.sin(v @ w) * v.max())(v) for v in x])
    second = nb.vmap(nb.grad(lambda v: nb.grad(lambda u: (u**3).sum())(v).sum()))(x)
    np.testing.assert_allclose(to_numpy(second), 6 * to_numpy(x), rtol=1e-12)
    assert told[1:] == [True, True]


@pytest.mark.filterwarnings("ignore")
def test_elements_of_one_example_are_nothing_to_others(told):
    """What is known of the first example's elements says nothing of those of others."""
    x = drawn(3, 4)
    at = nb.array([[0, 1], [3, 2], [1, 9]])
    with pytest.raises(IndexError):
        nb.vmap(lambda v, k: v[k])(x, at).sum().item()
    base = nb.array([[2, 3], [4, 5]])
    with pytest.raises(ValueError, match="negative"):
        nb.vmap(lambda b, e: b**e)(base, nb.array([[1, 2], [1, -1]])).sum().item()
    flag = nb.array([1.0, -1.0, 2.0])
    found = nb.vmap(lambda v, f: v if f > 0 else -v)(x, flag)
    same(found, [x[0], -x[1], x[2]])
    assert told[-1] is not True


def test_effects_are_those_of_calls_for_each():
    x = drawn(4, 3)
    seen = nb.zeros(3)

    def adds(v):
        seen[:] += v
        return v * 2

    same(nb.vmap(adds)(x), list(x * 2))
    np.testing.assert_allclose(to_numpy(seen), to_numpy(x).sum(0), rtol=1e-12)

    def writes(v):
        v *= 3
        return v.sum()

    before = to_numpy(x).copy()
    same(nb.vmap(writes)(x), list(nb.array(before.sum(1) * 3)))
    np.testing.assert_allclose(to_numpy(x), before * 3, rtol=1e-15)

    def reads_and_writes(v):
        v += 1
        return v * 2 if v.sum() > 0 else v

    before = to_numpy(x).copy()
    nb.vmap(reads_and_writes)(x)
    np.testing.assert_allclose(to_numpy(x), before + 1, rtol=1e-15)


def test_arguments_that_share_memory():
    """What is written to one of them is seen in the others, as in calls for each index."""

    def f(a, b):
        a += 1
        return b * 2

    def rows(x, y):
        return np.stack([to_numpy(f(x[k], y[k])) for k in range(len(x))])

    for views in (
        lambda x: (x, x),
        lambda x: (x[:, :2], x[:, 1:3]),
        lambda x: (x[1:], x[:-1]),
        lambda x: (x, x[::-1]),
    ):
        x, y = nb.arange(12.0).reshape(4, 3), nb.arange(12.0).reshape(4, 3)
        found = to_numpy(nb.vmap(f)(*views(x)))
        np.testing.assert_array_equal(found, rows(*views(y)))
        np.testing.assert_array_equal(to_numpy(x), to_numpy(y))

    x = nb.ones((3, 2))

    def sees(v):
        v += 1
        return v + x.sum()

    np.testing.assert_array_equal(to_numpy(nb.vmap(sees)(x)), [[10, 10], [12, 12], [14, 14]])
    x = nb.ones((3, 2))

    def writes_elsewhere(v):
        x[...] += 1
        return v * 1

    np.testing.assert_array_equal(to_numpy(nb.vmap(writes_elsewhere)(x))[:, 0], [1, 3, 4])

    def both(v, w):
        v += 1
        seen[:] += v
        return v

    seen = nb.zeros(2)
    with pytest.raises(RuntimeError, match="writes to its arguments and to other arrays"):
        nb.vmap(both)(nb.ones((3, 2)), nb.ones((3, 2)))


def test_numbers_of_examples():
    x = nb.arange(3.0)

    def f(k):
        k += 1
        return k

    np.testing.assert_array_equal(to_numpy(nb.vmap(f)(x)), [1, 2, 3])
    np.testing.assert_array_equal(to_numpy(x), [0, 1, 2])
    assert nb.vmap(lambda k: k * isinstance(k, nb.ndarray))(x).sum() == 0


def test_random_numbers_are_drawn_for_each():
    rng = nb.random.default_rng(3)
    found = to_numpy(nb.vmap(lambda v: v * 0 + rng.standard_normal(2))(drawn(5, 2)))
    want = np.random.default_rng(3).standard_normal((5, 2))
    np.testing.assert_array_equal(found, want)
    model = torch.nn.Dropout(0.5)
    made = torch.vmap(model, randomness="different")(torch.ones(6, 50))
    assert len({tuple(row) for row in (made > 0).tolist()}) == 6


def test_gradients_of_each_sample(told):
    """The example of PyTorch's tutorial on gradients per sample."""
    func = torch.func
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    params = {k: v.detach() for k, v in model.named_parameters()}
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

    def loss(p, x, y):
        out = func.functional_call(model, p, (x.unsqueeze(0),))
        return nn.functional.cross_entropy(out, y.unsqueeze(0))

    found = torch.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    assert told == [True]
    for name, g in found.items():
        rows = [func.grad(loss)(params, x[k], y[k])[name] for k in range(6)]
        want = torch.stack(rows).cpu().numpy()
        np.testing.assert_allclose(g.cpu().numpy(), want, rtol=1e-5, atol=1e-6)


def test_tensors_that_are_differentiated(told):
    w = torch.randn(4, requires_grad=True)
    x = torch.randn(5, 4)
    torch.vmap(lambda v: (v * w).sum())(x).sum().backward()
    np.testing.assert_allclose(w.grad.cpu().numpy(), x.cpu().numpy().sum(0), rtol=1e-5)
    assert told[0] is not True


def test_jax_indices_that_differ(told):
    x, k = jnp.arange(12.0).reshape(3, 4), jnp.array([2, 0, 7])
    found = jax.vmap(lambda v, k: v[k] + v[0])(x, k)
    np.testing.assert_array_equal(np.asarray(found), [2.0, 8.0, 19.0])
    rows = jax.vmap(lambda v, k: v[k, :2])(x.reshape(3, 2, 2), k)
    np.testing.assert_array_equal(np.asarray(rows), [[2.0, 3.0], [4.0, 5.0], [10.0, 11.0]])
    put = jax.vmap(lambda v, k: v.at[k].set(-1.0))(x, jnp.array([0, 1, 3]))
    assert np.asarray(put)[1, 1] == -1 and told == [True] * 3
    jitted = jax.jit(jax.vmap(lambda v: jnp.sin(v).sum()))
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(jitted(x)), np.sin(np.asarray(x)).sum(1), rtol=1e-6)


def test_a_function_of_numbers(told):
    f = nb.vectorize(lambda a, b: a * b + 1 if a > b else b)
    x, y = drawn(3, 4), drawn(3, 4, seed=1)
    same(nb.vmap(lambda a, b: f(a, b).sum())(x, y), [f(x[k], y[k]).sum() for k in range(3)])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nb.vmap(3), TypeError, r"\[vmap\] nothing to call"),
        (lambda: nb.vmap(nb.sin, in_axes=2)(nb.ones(3)), ValueError, "no such axis"),
        (lambda: nb.vmap(nb.add)(nb.ones(3), nb.ones(4)), ValueError, "sizes of the mapped axes"),
        (lambda: nb.vmap(nb.add, (0,))(nb.ones(3), 1), ValueError, "an axis for each argument"),
        (lambda: nb.vmap(lambda v: "text")(nb.ones(3)), TypeError, "returns what is no array"),
        (lambda: nb.vmap(nb.sin)(nb.ones((0, 3))), NotImplementedError, "without elements"),
        (lambda: nb.vmap(lambda v: v, out_axes=(0, 0))(nb.ones(3)), ValueError, "axis for each"),
    ],
)
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("images", [1, 2])
@pytest.mark.parametrize("form", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 1, 2, 1)])
def test_convolutions(told, images, form):
    """Of images, and of weights that differ from example to example."""
    func, f = torch.func, nn.functional.conv2d
    devices = ["cpu", "fenced"] if DEVICE == "cpu" else [DEVICE]
    for device in devices:
        torch.manual_seed(0)
        x = torch.randn(5, images, 4, 9, 8).to(device)
        w = torch.randn(5, 6, 4 // form[3], 3, 3).to(device)
        call = lambda x, w: f(x, w, None, *form)  # noqa: E731
        square = lambda x, w: (f(x, w, None, *form) ** 2).sum()  # noqa: E731
        for body in (call, func.grad(square), func.grad(square, 1)):
            for given, dims in (((x, w[0]), (0, None)), ((x, w), (0, 0)), ((x[0], w), (None, 0))):
                told.clear()
                found = torch.vmap(body, in_dims=dims)(*given)
                rows = [
                    body(*[a if d is None else a[k] for a, d in zip(given, dims, strict=True)])
                    for k in range(5)
                ]
                want = torch.stack(rows).cpu().numpy()
                scale = np.abs(want).max()
                np.testing.assert_allclose(found.cpu().numpy() / scale, want / scale, atol=1e-6)
                assert told == [True]


@pytest.mark.skipif(DEVICE not in ("cpu", "fenced"), reason="cuFFT takes three axes at most")
@pytest.mark.parametrize("axes", [1, 2])
def test_transforms(told, axes):
    x = drawn(5, *[(40,), (12, 10)][axes - 1])

    def power(v):
        spectrum = nb.fft.rfftn(v, norm="ortho")
        back = nb.fft.irfftn(spectrum * 2, s=v.shape, axes=range(v.ndim))
        return (nb.abs(nb.fft.fft(v, axis=0)) ** 2).sum() + back.sum(), nb.fft.ifft(spectrum)

    found = nb.vmap(power)(x)
    rows = [power(v) for v in x]
    for k in range(2):
        same(found[k], [r[k] for r in rows])
    slope = nb.vmap(nb.grad(lambda v: power(v)[0]))(x)
    same(slope, [nb.grad(lambda v: power(v)[0])(v) for v in x])
    assert told == [True, True]

"""Linear algebra as nodes of the plan: on a CPU bits, layouts, warnings, errors, batches; on a
GPU what is pending, errors and batches.
"""

import warnings

import numbus as nb
import numpy as np
import pytest
from conftest import DEVICE

pytestmark = pytest.mark.numbus

KEYWORDS = {
    "cholesky": [{}, {"upper": True}],
    "eigh": [{}, {"UPLO": "U"}, {"UPLO": "u"}],
    "eigvalsh": [{}, {"UPLO": "U"}],
    "svd": [{}, {"full_matrices": False}, {"compute_uv": False}],
    "qr": [{}, {"mode": "complete"}, {"mode": "r"}, {"mode": "raw"}, {"mode": "economic"}],
}
NAMES = ["inv", "det", "slogdet", "cholesky", "eigvalsh", "eigh", "eigvals", "eig", "svd"]
NAMES += ["svdvals", "qr"]
# None of them few elements, which NumPy is asked about.
SHAPES = [(70, 70), (100, 9, 9), (5, 40, 8, 8), (90, 50), (200, 7, 12), (3, 80, 80)]
LAYOUTS = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "turned": lambda a: a.swapaxes(-1, -2),
    "stack last": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0),
    "backwards": lambda a: a[..., ::-1, :],
}


HOST = DEVICE in ("cpu", "fenced")
numpys_bits = pytest.mark.skipif(not HOST, reason="NumPy's loops")


def compare(got, expected, exact=HOST):
    """On a GPU vectors have any sign."""
    got, expected = np.asarray(got), np.asarray(expected)
    if exact:
        np.testing.assert_array_equal(got, expected)
    elif HOST:
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(abs(got), abs(expected), rtol=1e-8, atol=1e-8)


def drawn(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return (a * 5).astype(dtype)


def outcome(function, *args, **kwargs):
    """(arrays with their strides, or an error; the warnings)."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = function(*args, **kwargs)
            made = [np.asarray(x) for x in (made if isinstance(made, tuple) else (made,))]
            made = [(x.dtype, x.shape, x.strides, x.tobytes()) for x in made]
        except (ValueError, np.linalg.LinAlgError) as error:
            made = type(error).__name__, str(error)
    return made, [str(w.message) for w in told if issubclass(w.category, RuntimeWarning)]


@numpys_bits
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D", "l"])
def test_as_numpy(name, dtype):
    for shape in SHAPES:
        for layout in LAYOUTS.values():
            a = layout(drawn(shape, dtype))
            if name == "cholesky" and shape[-1] == shape[-2]:
                a = (a @ a.conj().swapaxes(-1, -2)).astype(dtype)
            for kwargs in KEYWORDS.get(name, [{}]):
                expected = outcome(getattr(np.linalg, name), a, **kwargs)
                x = nb.asarray(a)
                if DEVICE != "cpu" and x.strides != a.strides:
                    continue
                assert outcome(getattr(nb.linalg, name), x, **kwargs) == expected


@numpys_bits
@pytest.mark.parametrize("shapes", [((70, 70), (70,)), ((70, 70), (70, 3)), ((9, 30, 30), (30, 2)),
                                    ((5, 1, 40, 40), (4, 40, 2)), ((80, 80), (3, 1, 80, 2)),
                                    ((80, 80), (70, 2))])  # fmt: skip
@pytest.mark.parametrize("dtypes", ["dd", "fd", "fD", "lf", "Df"])
def test_solve(shapes, dtypes):
    a, b = (drawn(s, t, k) for k, (s, t) in enumerate(zip(shapes, dtypes, strict=True)))
    expected, _ = outcome(np.linalg.solve, a, b)
    got, _ = outcome(nb.linalg.solve, nb.asarray(a), nb.asarray(b))
    if isinstance(expected, tuple):
        assert got[0] == expected[0]
    else:
        assert [(x[0], x[1], x[3]) for x in got] == [(x[0], x[1], x[3]) for x in expected]


@numpys_bits
@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "svd"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e10, 0.0])
def test_warnings_and_errors(name, value):
    a = np.stack([np.eye(80)] * 3)
    a[1] *= value if np.isfinite(value) else 1
    a[1, 3, 4] = value
    expected, told = outcome(getattr(np.linalg, name), a)
    got, met = outcome(getattr(nb.linalg, name), nb.asarray(a))
    if DEVICE == "cpu":
        assert met == told
    if isinstance(expected, tuple):
        assert got == expected
    else:
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(np.frombuffer(x[3]), np.frombuffer(y[3]))


def test_errors_come_at_the_call():
    x = nb.asarray(drawn((80, 80), "d"))
    for singular in (x * 0, nb.zeros((80, 80)), nb.stack([x, x * 0, x])):
        with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
            nb.linalg.inv(singular)
        with pytest.raises(np.linalg.LinAlgError, match=r"^Matrix is not positive definite$"):
            nb.linalg.cholesky(singular)
        assert (np.asarray(singular + 1) == np.asarray(singular) + 1).all()


def test_determinants_and_qr_are_pending():
    x = nb.asarray(drawn((80, 80), "d"))
    nb.synchronize()
    for function in (nb.linalg.det, nb.linalg.slogdet, nb.linalg.qr):
        before = stats()
        made = function(x * 2)
        assert stats() == before
        expected = getattr(np.linalg, function.__name__)(np.asarray(x) * 2)
        made, expected = (m if isinstance(m, tuple) else (m,) for m in (made, expected))
        for y, z in zip(made, expected, strict=True):
            compare(y, z)


@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw", "economic"])
@pytest.mark.parametrize("shape", [(90, 50), (50, 90), (2, 3, 70, 60)])
def test_what_is_composed_of_pending_factors(mode, shape):
    a = drawn(shape, "d")
    got = nb.linalg.qr(nb.asarray(a) + 1, mode)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.linalg.qr(a + 1, mode)
    got, expected = (m if isinstance(m, tuple) else (m,) for m in (got, expected))
    for y, z in zip(got, expected, strict=True):
        compare(y, z)


def stats():
    return nb._core.stats()["flushes"]


BATCHED = {
    "inv": lambda la, a: la.inv(a),
    "det": lambda la, a: la.det(a),
    "slogdet": lambda la, a: tuple(la.slogdet(a)),
    "svd": lambda la, a: tuple(la.svd(a)),
    "svdvals": lambda la, a: la.svdvals(a),
    "qr": lambda la, a: tuple(la.qr(a)),
    "eigh": lambda la, a: tuple(la.eigh(a + a.T)),
    "eigvalsh": lambda la, a: la.eigvalsh(a + a.T, "U"),
    "cholesky": lambda la, a: la.cholesky(a @ a.T),
    "solve": lambda la, a: la.solve(a, a[0]) + la.inv(a)[1],
}


@pytest.mark.parametrize("name", BATCHED)
def test_batches(name):
    a = drawn((40, 6, 6), "d")
    calls = []

    def f(x):
        calls.append(1)
        return BATCHED[name](nb.linalg, x)

    got = nb.vmap(f)(nb.asarray(a))
    # Singular values ask first whether there are NaNs on a GPU, each time anew.
    assert len(calls) == 1 or (not HOST and name.startswith("svd"))
    each = [BATCHED[name](np.linalg, x) for x in a]
    if not isinstance(got, tuple):
        got, each = (got,), [(e,) for e in each]
    for x, y in zip(got, zip(*each, strict=True), strict=True):
        compare(x, np.stack(y), exact=False)


@pytest.mark.parametrize("at", [0, 7, 39])
def test_an_example_without_a_result(at):
    a = drawn((40, 6, 6), "d")
    a[at] = 0
    x = nb.asarray(a)

    def handled(m):
        try:
            return nb.linalg.inv(m)
        except np.linalg.LinAlgError:
            return m - 1

    got = np.asarray(nb.vmap(handled)(x))
    expected = np.stack([m - 1 if k == at else np.linalg.inv(m) for k, m in enumerate(a)])
    np.testing.assert_allclose(got, expected)
    for f in (nb.linalg.inv, lambda m: (nb.linalg.inv(m), m + 1)[1]):
        with pytest.raises(np.linalg.LinAlgError):
            nb.vmap(f)(x)
    np.testing.assert_array_equal(np.asarray(x + 1), a + 1)


def test_derivatives_of_batches():
    a = drawn((5, 6, 6), "d")
    ones = np.ones((6, 6))
    inverse = np.linalg.inv(a).swapaxes(-1, -2)
    expected = -inverse @ ones @ inverse
    one = nb.vmap(nb.grad(lambda m: nb.linalg.inv(m).sum()))(nb.asarray(a))
    np.testing.assert_allclose(np.asarray(one), expected)
    whole = nb.grad(lambda x: nb.vmap(lambda m: nb.linalg.inv(m).sum())(x).sum())(nb.asarray(a))
    np.testing.assert_allclose(np.asarray(whole), expected)

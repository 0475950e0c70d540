"""Many random numbers of cupy.random: distributions, shapes, types, seeds; on each device alike."""

import importlib

import numpy as np
import pytest
from conftest import DEVICE

pytestmark = pytest.mark.numbus

MANY = 20_000
# Of scipy.stats the distribution and its parameters, for a call's name and its.
CASES = [
    ("random_sample", (), "uniform", ()),
    ("random", (), "uniform", ()),
    ("uniform", (-2.0, 3.5), "uniform", (-2.0, 5.5)),
    ("normal", (3.0, 0.5), "norm", (3.0, 0.5)),
    ("lognormal", (0.3, 0.5), "lognorm", (0.5, 0, np.exp(0.3))),
    ("exponential", (2.0,), "expon", (0, 2.0)),
    ("standard_exponential", (), "expon", ()),
    ("laplace", (1.0, 2.0), "laplace", (1.0, 2.0)),
    ("logistic", (1.0, 2.0), "logistic", (1.0, 2.0)),
    ("gumbel", (1.0, 2.0), "gumbel_r", (1.0, 2.0)),
    ("rayleigh", (2.0,), "rayleigh", (0, 2.0)),
    ("weibull", (1.5,), "weibull_min", (1.5,)),
    ("pareto", (3.0,), "lomax", (3.0,)),
    ("power", (2.5,), "powerlaw", (2.5,)),
    ("standard_cauchy", (), "cauchy", ()),
    ("triangular", (-1.0, 0.5, 3.0), "triang", (1.5 / 4, -1.0, 4.0)),
]


@pytest.fixture
def cp():
    return importlib.import_module("numbus.compat.cupy")


@pytest.mark.parametrize("name, arguments, distribution, parameters", CASES, ids=str)
def test_distribution(cp, name, arguments, distribution, parameters):
    stats = pytest.importorskip("scipy.stats")
    for dtype in ("float64", "float32"):
        x = getattr(cp.random.RandomState(11), name)(*arguments, 2 * MANY, dtype)
        assert isinstance(x, cp.ndarray) and x.dtype == dtype and x.shape == (2 * MANY,)
        x = np.asarray(x).astype(np.float64)
        assert np.isfinite(x).all()
        assert stats.kstest(x, distribution, parameters).pvalue > 1e-3


@pytest.mark.parametrize("name, arguments, _, parameters", CASES, ids=str)
def test_seeds_and_devices(cp, core, name, arguments, _, parameters):
    size = (4, MANY // 4)

    def draw():
        cp.random.seed(5)
        first = getattr(cp.random, name)(*arguments, size=size)
        return np.asarray(first), np.asarray(getattr(cp.random, name)(*arguments, size=size))

    x, y = draw()
    assert x.shape == size and (x != y).any()
    before = core.set_device("fenced" if DEVICE == "cpu" else DEVICE)
    again, last = draw()
    core.set_device(before)
    np.testing.assert_array_equal(again, x)
    np.testing.assert_array_equal(last, y)


TRIED = [
    ("standard_gamma", (2.5,), "gamma", (2.5,)),
    ("gamma", (0.4, 3.0), "gamma", (0.4, 0, 3.0)),
    ("chisquare", (3.0,), "chi2", (3.0,)),
    ("beta", (0.7, 2.0), "beta", (0.7, 2.0)),
    ("f", (4.0, 7.0), "f", (4.0, 7.0)),
    ("poisson", (3.5,), "poisson", (3.5,)),
    ("poisson", (47.0,), "poisson", (47.0,)),
    ("binomial", (20, 0.3), "binom", (20, 0.3)),
    ("binomial", (300, 0.8), "binom", (300, 0.8)),
    ("negative_binomial", (4.0, 0.3), "nbinom", (4.0, 0.3)),
    ("vonmises", (0.0, 2.5), "vonmises", (2.5,)),
    ("vonmises", (0.0, 1e-6), "uniform", (-np.pi, 2 * np.pi)),
    ("vonmises", (0.0, 400.0), "vonmises", (400.0,)),
    ("wald", (3.0, 2.0), "invgauss", (1.5, 0, 2.0)),
    ("zipf", (1.9,), "zipf", (1.9,)),
    ("zipf", (4.0,), "zipf", (4.0,)),
    ("logseries", (0.6,), "logser", (0.6,)),
    ("logseries", (0.98,), "logser", (0.98,)),
    ("standard_t", (3.0,), "t", (3.0,)),
    ("geometric", (0.2,), "geom", (0.2,)),
    ("noncentral_chisquare", (0.7, 3.0), "ncx2", (0.7, 3.0)),
    ("noncentral_f", (3.0, 8.0, 2.0), "ncf", (3.0, 8.0, 2.0)),
    ("hypergeometric", (15, 25, 7), "hypergeom", (40, 15, 7)),
    ("hypergeometric", (25, 15, 36), "hypergeom", (40, 25, 36)),
    ("hypergeometric", (300, 200, 120), "hypergeom", (500, 300, 120)),
    ("hypergeometric", (200, 900, 700), "hypergeom", (1100, 200, 700)),
]


@pytest.mark.parametrize("name, arguments, distribution, parameters", TRIED, ids=str)
def test_distributions_of_tries(cp, core, monkeypatch, name, arguments, distribution, parameters):
    """On a GPU; elsewhere they are NumPy's, and tests make the CPU do it."""
    stats = pytest.importorskip("scipy.stats")
    if DEVICE == "fenced":
        pytest.skip("loops that cannot be recorded run on the host's memory there")
    wanted = getattr(stats, distribution)(*parameters)
    few = np.asarray(getattr(cp.random.RandomState(3), name)(*arguments, MANY))
    monkeypatch.setattr(core, "draws_apart", lambda n: True)
    cp.random.seed(5)
    x = np.asarray(getattr(cp.random, name)(*arguments, (2, MANY)))
    cp.random.seed(5)
    again = np.asarray(getattr(cp.random, name)(*arguments, (2, MANY), x.dtype))
    assert x.shape == (2, MANY) and x.dtype == few.dtype
    np.testing.assert_array_equal(again, x)
    if DEVICE == "cpu":
        want = getattr(np.random.RandomState(3), name)(*arguments, MANY)
        np.testing.assert_array_equal(few, want)
    if x.dtype.kind == "f":
        assert stats.kstest(x.ravel(), wanted.cdf).pvalue > 1e-3
        return
    x = np.minimum(x, 2000)  # where only tails are
    values = np.arange(x.max() + 1)
    expected = wanted.pmf(values) * x.size
    often = expected > 10
    counts = np.bincount(x.ravel(), minlength=len(values))
    both = [np.append(v[often], v[~often].sum()) for v in (counts, expected)]
    both[1][-1] += x.size - both[1].sum()
    if both[1][-1] < 1e-6:  # all values are often
        both = [counts[often], expected[often]]
    assert stats.chisquare(*both).pvalue > 1e-3


def _spread(low, high, whole=False):
    x = np.random.default_rng([int(10 * low + 100), int(high)]).uniform(low, high, MANY)
    return np.ceil(x).astype(int) if whole else x


# Name, parameters of each element, SciPy's distribution of these.
OF_ARRAYS = {
    "standard_gamma": ((_spread(0.3, 5),), lambda s, a: s.gamma(a)),
    "gamma": ((_spread(0.3, 5), _spread(1, 3)), lambda s, a, b: s.gamma(a, scale=b)),
    "beta": ((_spread(0.3, 5), _spread(1, 3)), lambda s, a, b: s.beta(a, b)),
    "chisquare": ((_spread(0.2, 80),), lambda s, d: s.chi2(d)),
    "f": ((_spread(0.3, 5), _spread(1, 9)), lambda s, a, b: s.f(a, b)),
    "wald": ((_spread(0.3, 5), _spread(1, 3)), lambda s, m, a: s.invgauss(m / a, scale=a)),
    "vonmises": ((0.0, _spread(0.1, 9)), lambda s, m, k: s.vonmises(k, loc=m)),
    "standard_t": ((_spread(0.5, 5),), lambda s, d: s.t(d)),
    "noncentral_chisquare": ((_spread(0.3, 5), _spread(1, 30)), lambda s, d, c: s.ncx2(d, c)),
    "noncentral_f": ((2.0, _spread(3, 9), _spread(1, 3)), lambda s, a, b, c: s.ncf(a, b, c)),
    "poisson": ((_spread(0.1, 80),), lambda s, m: s.poisson(m)),
    "binomial": ((_spread(1, 200, True), _spread(0, 1)), lambda s, n, p: s.binom(n, p)),
    "negative_binomial": ((_spread(0.5, 4), 0.3), lambda s, n, p: s.nbinom(n, p)),
    "geometric": ((_spread(0.1, 1),), lambda s, p: s.geom(p)),
    "logseries": ((_spread(0, 1),), lambda s, p: s.logser(p)),
    "hypergeometric": (
        (_spread(20, 200, True), 50, _spread(1, 60, True)),
        lambda s, g, b, n: s.hypergeom(g + b, g, n),
    ),
    "normal": ((_spread(-5, 5), _spread(0.3, 3)), lambda s, m, d: s.norm(m, d)),
    "exponential": ((_spread(0.3, 5),), lambda s, d: s.expon(scale=d)),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_parameters_that_are_arrays(cp, core, monkeypatch, name):
    """A number of its own distribution for each element, whose probability is uniform."""
    stats = pytest.importorskip("scipy.stats")
    if DEVICE == "fenced":
        pytest.skip("loops that cannot be recorded run on the host's memory there")
    monkeypatch.setattr(core, "draws_apart", lambda n: True)
    parameters, distribution = OF_ARRAYS[name]
    wanted = distribution(stats, *parameters)
    few = getattr(np.random.RandomState(3), name)(*[np.ravel(p)[:1] for p in parameters])
    cp.random.seed(5)
    x = np.asarray(getattr(cp.random, name)(*parameters, (2, MANY)))
    assert x.shape == (2, MANY) and x.dtype == few.dtype
    cp.random.seed(5)
    on_device = [p if np.isscalar(p) else cp.asarray(p) for p in parameters]
    again = np.asarray(getattr(cp.random, name)(*on_device, size=(2, MANY)))
    np.testing.assert_array_equal(again, x)
    below = wanted.cdf(x)
    if x.dtype.kind == "i":  # anywhere in the step
        below = below - np.random.default_rng(1).random(x.shape) * wanted.pmf(x)
    assert stats.kstest(below.ravel(), "uniform").pvalue > 1e-3


def test_shapes_and_errors_of_arrays(cp, core, monkeypatch):
    """Parameters broadcast; what NumPy refuses, it says in its own words."""
    if DEVICE == "fenced":
        pytest.skip("loops that cannot be recorded run on the host's memory there")
    monkeypatch.setattr(core, "draws_apart", lambda n: True)
    a = _spread(0.3, 5)
    assert cp.random.gamma(a[:3], 2.0, (MANY, 3)).shape == (MANY, 3)
    assert cp.random.gamma(a[:, None], [1.0, 2.0]).shape == (MANY, 2)
    assert cp.random.gamma(a).shape == (MANY,)
    for call in (
        lambda r: r.gamma(-a),
        lambda r: r.gamma(a, size=(3,)),
        lambda r: r.gamma(a, size=(MANY, 2)),
        lambda r: r.poisson(np.where(a > 4, np.nan, a)),
        lambda r: r.normal(a, -a),
        lambda r: r.binomial(5, a),
    ):
        with pytest.raises(ValueError):
            call(np.random)
        with pytest.raises(ValueError):
            call(cp.random)


def test_rows(cp, core, monkeypatch):
    """Dirichlet and multinomial numbers: each column has a distribution that is known."""
    stats = pytest.importorskip("scipy.stats")
    if DEVICE == "fenced":
        pytest.skip("loops that cannot be recorded run on the host's memory there")
    monkeypatch.setattr(core, "draws_apart", lambda n: True)
    shapes, chances = (0.7, 2.0, 3.5), (0.2, 0.5, 0.0, 0.3)
    cp.random.seed(5)
    x = np.asarray(cp.random.dirichlet(shapes, (2, MANY)))
    assert x.shape == (2, MANY, 3) and x.dtype == "f8"
    np.testing.assert_allclose(x.sum(-1), 1.0, 1e-14)
    for k, a in enumerate(shapes):
        wanted = stats.beta(a, sum(shapes) - a)
        assert stats.kstest(x[..., k].ravel(), wanted.cdf).pvalue > 1e-3
    y = np.asarray(cp.random.multinomial(30, chances, (2, MANY)))
    assert y.shape == (2, MANY, 4) and y.dtype == "i8" and (y.sum(-1) == 30).all()
    for k, p in enumerate(chances):
        expected = stats.binom(30, p).pmf(np.arange(31)) * 2 * MANY
        counts, often = np.bincount(y[..., k].ravel(), minlength=31), expected > 10
        both = [np.append(v[often], v[~often].sum()) for v in (counts, expected)]
        assert p == 0 or stats.chisquare(*both).pvalue > 1e-3
        assert p > 0 or not y[..., k].any()
    covariance = np.cov(y[..., 0].ravel(), y[..., 1].ravel())[0, 1]
    assert abs(covariance + 30 * 0.2 * 0.5) < 0.1
    with pytest.raises(ValueError, match="pvals"):
        cp.random.multinomial(30, (0.9, 0.9, 0.1), (2, MANY))


def test_integers(cp):
    for dtype, low, high in (("int64", -5, 12), ("int32", 0, 3), ("uint8", 0, 256)):
        cp.random.seed(5)
        x = cp.random.randint(low, high, 4 * MANY, dtype)
        assert x.dtype == dtype and isinstance(x, cp.ndarray)
        counts = np.bincount(np.asarray(x).astype(np.int64) - low, minlength=high - low)
        each = 4 * MANY / (high - low)
        assert len(counts) == high - low and (abs(counts - each) < 6 * each**0.5).all()
    assert cp.random.RandomState(3).randint(9, size=(2, MANY)).max() == 8
    with pytest.raises(ValueError):
        cp.random.randint(5, 5, MANY)


@pytest.mark.parametrize(
    "name, arguments, size",
    [
        ("uniform", (0, [1j, 2]), (3 * MANY, 2)),
        ("normal", (0, -1), MANY),
        ("exponential", (-1,), MANY),
        ("triangular", (0, 2, 1), MANY),
        ("weibull", (float("nan"),), MANY),
        ("pareto", ("a",), MANY),
        ("uniform", (0, 1), (-MANY, -2)),
        ("laplace", (0, 1), 100),
        ("rayleigh", (2,), 10**19),
        ("gumbel", (0, 1), (10**10, 10**10)),
        ("gamma", (2.0,), MANY),
    ],
)
def test_what_is_numpys(cp, name, arguments, size):
    """Wrong parameters, few numbers: NumPy's numbers and errors."""

    def drawn(module):
        try:
            return np.asarray(getattr(module.RandomState(3), name)(*arguments, size))
        except (TypeError, ValueError) as e:
            return type(e)

    want, got = drawn(np.random), drawn(cp.random)
    assert got is want if isinstance(want, type) else np.array_equal(got, want, equal_nan=True)


def test_dtype_after_the_size(cp):
    for name, arguments in (("gamma", (2.0, 1.0)), ("beta", (1.0, 2.0)), ("poisson", (3.0,))):
        x = getattr(cp.random, name)(*arguments, 5, "float32")
        assert x.dtype == "float32" and x.shape == (5,)
    assert cp.random.rand(4, MANY, dtype="float32").dtype == "float32"
    assert cp.random.laplace(0, 1, [2, np.int64(MANY)], "float32").shape == (2, MANY)
    assert cp.random.uniform(0, 1, None, "float32").dtype == "float32"

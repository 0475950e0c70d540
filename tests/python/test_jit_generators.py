"""numpy.random.Generator as an argument of compiled functions: NumPy's own bits, in its order."""

import importlib.util
import linecache

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

BOUNDS = [(0, 10), (-5, 3), (0, 2**32), (0, 2**32 - 1), (0, 2**33), (-(2**63), 2**63 - 1), (0, 1),
          (0, 2**63 - 1), (-(2**62), 2**62 + 12345), (3, 4)]  # fmt: skip


def floats(g):
    return g.random(), g.random(5), g.random((2, 3)), g.random(size=2), g.random(0)


def uniform(g):
    return g.uniform(), g.uniform(2, 5), g.uniform(1.0, 2.0, (3,)), g.uniform(high=3.0, low=-1)


def normal(g):
    return g.standard_normal(), g.standard_normal(50000), g.normal(), g.normal(3, 2, (4, 2))


def exponential(g):
    return g.standard_exponential(), g.standard_exponential(50000), g.exponential(2.5, 7)


def mixed(g):
    a = g.integers(7)
    b = g.random()
    c = g.integers(3, 9, size=3)
    return a, b, c, g.integers(2**40), g.integers(5), g.normal(), helper(g, 3)


def helper(g, n):
    return g.uniform(0, n) + n


SOURCES = [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]


def compare(f, source, seed, *args):
    mine, theirs = (np.random.Generator(source(seed)) for _ in range(2))
    for _ in range(2):
        for got, want in zip(njit(f)(mine, *args), f(theirs, *args), strict=True):
            assert np.ndim(got) == np.ndim(want)
            # Numbers come back as Python's.
            assert np.ndim(got) == 0 or got.dtype == want.dtype
            assert np.array_equal(got, want)
    assert mine.integers(2**31) == theirs.integers(2**31) and mine.random() == theirs.random()


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.__name__)
@pytest.mark.parametrize("f", [floats, uniform, normal, exponential, mixed])
def test_numpys_bits(f, source):
    compare(f, source, 5)


def test_integers_below_a_bound():
    def f(g, low, high):
        return g.integers(low, high), g.integers(low, high, size=100), g.integers(low, high, (2, 3))

    for low, high in BOUNDS:
        compare(f, np.random.PCG64, 3, low, high)


def test_many_normal_numbers_and_their_tail():
    g, h = np.random.default_rng(8), np.random.default_rng(8)
    found = njit(lambda g: g.standard_normal(400_000))(g)
    assert np.array_equal(found, h.standard_normal(400_000)) and abs(found).max() > 3.7


def test_errors_and_what_is_not_known():
    g = np.random.default_rng(1)
    for f in (
        lambda g: g.integers(5, 5),
        lambda g: g.normal(0, -1),
        lambda g: g.exponential(-1.0),
        lambda g: g.uniform(3, 2),
    ):
        with pytest.raises(ValueError):
            f(np.random.default_rng(1))
        with pytest.raises(ValueError):
            njit(f)(g)
    with pytest.raises(OverflowError):
        njit(lambda g: g.uniform(0, np.inf))(g)
    for f in (lambda g: g, lambda g: [g], lambda g: g.bytes(3), lambda g: g.random(dtype=np.int32)):
        with pytest.raises((UnsupportedError, CompileError)):
            njit(f)(g)
    with pytest.raises(UnsupportedError, match="parallel=True"):
        njit(lambda g: g.random(), parallel=True)(g)


DISTRIBUTIONS = {
    "beta": [(0.5, 0.4), (2, 3), (1e-4, 2e-4), (0.5, 3)],
    "binomial": [(10, 0.3), (1000, 0.4), (100, 0.9), (0, 0.5), (5, 1.0)],
    "chisquare": [(1,), (4.5,)],
    "f": [(2, 3), (0.5, 7)],
    "gamma": [(0.3, 2.0), (1.0,), (5, 0.5), (0.0, 1.0)],
    "geometric": [(0.5,), (0.01,), (1e-12,), (1.0,)],
    "gumbel": [(), (1, 2)],
    "laplace": [(), (1, 2)],
    "logistic": [(), (1, 2)],
    "lognormal": [(), (1, 0.5)],
    "logseries": [(0.5,), (0.99,)],
    "negative_binomial": [(3, 0.4), (0.5, 0.1)],
    "noncentral_chisquare": [(3, 2), (0.5, 4), (2, 0)],
    "noncentral_f": [(3, 4, 1.5), (0.5, 2, 2)],
    "pareto": [(3,)],
    "poisson": [(3,), (50,), (0,), (1e9,)],
    "power": [(2,), (0.5,)],
    "random": [()],
    "rayleigh": [(), (2,)],
    "standard_cauchy": [()],
    "standard_exponential": [()],
    "standard_gamma": [(0.5,), (3,)],
    "standard_normal": [()],
    "standard_t": [(3,)],
    "triangular": [(0, 1, 3)],
    "vonmises": [(0, 1), (1, 1e7), (2, 1e-9), (0.5, 1e-6)],
    "wald": [(1, 2), (100, 1e-3)],
    "weibull": [(0,), (1.5,)],
    "zipf": [(2,), (1.01,), (1030,)],
}


def made(body, tmp_path):
    """The function of a generator whose body is this text, in a file of its own."""
    file = tmp_path / "made.py"
    file.write_text(f"import numpy as np\n\n\ndef f(g, x=0):\n    {body}\n")
    spec = importlib.util.spec_from_file_location("made", file)
    module = importlib.util.module_from_spec(spec)
    linecache.clearcache()
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name, tmp_path):
    for arguments in DISTRIBUTIONS[name]:
        given = "".join(f"{a!r}, " for a in arguments)
        calls = [f"g.{name}({given}{size})" for size in ("", "size=2000", "size=(2, 3)")]
        f = made(f"return {', '.join(calls)}", tmp_path)
        compare(f, np.random.PCG64, 7)


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_numbers_of_float32(name, tmp_path):
    call = f"g.{name}(%sdtype=np.float32)"
    f = made(f"return {call % ''}, {call % '200000, '}, {call % 'size=(3, 4), '}", tmp_path)
    compare(f, np.random.PCG64, 3)
    compare(f, np.random.MT19937, 3)


def test_exponential_numbers_by_inversion():
    def f(g):
        return g.standard_exponential(method="inv"), g.standard_exponential(9, method="inv")

    compare(f, np.random.PCG64, 3)


TYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool_".split()


@pytest.mark.parametrize("kind", TYPES)
def test_integers_of_a_type(kind, tmp_path):
    least, most = (0, 1) if kind == "bool_" else (np.iinfo(kind).min, np.iinfo(kind).max)
    bounds = [(least, most), (0, 1), (most // 3, most // 2 + 1), (least, least + 1)]
    for low, high in bounds:
        for more in ("", ", endpoint=True"):
            call = f"g.integers({low}, {high}%s, dtype=np.{kind}{more})"
            f = made(f"return {call % ''}, {call % ', size=1000'}, {call % ', (2, 3)'}", tmp_path)
            compare(f, np.random.PCG64, 5)
            compare(f, np.random.MT19937, 5)


def test_integers_outside_of_their_type(tmp_path):
    for text in (
        "-1, 5, dtype=np.uint8",
        "0, 300, dtype=np.int8",
        "5, dtype=np.bool_",
        "-1, 5, dtype=np.uint64",
    ):
        f = made(f"return g.integers({text})", tmp_path)
        with pytest.raises(ValueError):
            f(np.random.default_rng(1))
        with pytest.raises(ValueError):
            njit(f)(np.random.default_rng(1))


def shuffled(g, x):
    g.shuffle(x)
    return (x,)


def shuffled_columns(g, x):
    g.shuffle(x, axis=1)
    return (x,)


def permuted(g, x):
    return g.permutation(x), g.permutation(x)


def permuted_columns(g, x):
    return g.permutation(x, axis=1), g.permutation(x, 1)


def test_shuffles_and_permutations():
    for x in (np.arange(20), np.arange(1.0), np.zeros(0), np.arange(24.0).reshape(4, 6)):
        mine, theirs = x.copy(), x.copy()
        a, b = np.random.default_rng(2), np.random.default_rng(2)
        njit(shuffled)(a, mine)
        shuffled(b, theirs)
        assert np.array_equal(mine, theirs) and a.integers(2**40) == b.integers(2**40)
        compare(permuted, np.random.PCG64, 3, x)
    x = np.arange(24.0).reshape(4, 6)
    mine, theirs = x.copy(), x.copy()
    a, b = np.random.default_rng(2), np.random.default_rng(2)
    njit(shuffled_columns)(a, mine)
    shuffled_columns(b, theirs)
    assert np.array_equal(mine, theirs)
    compare(permuted_columns, np.random.PCG64, 3, x)
    compare(permuted_columns, np.random.PCG64, 3, np.arange(60).reshape(3, 4, 5))
    compare(permuted, np.random.PCG64, 3, 17)


CHOICES = ["5", "x", "5, 7", "x, 7", "x, (2, 3)", "30, 10, replace=False", "x, 9, replace=False",
           "20000, 3000, replace=False", "20000, 900, replace=False, shuffle=False",
           "50, (4, 3), False, shuffle=False", "x, replace=False", "4, p=P", "4, 6, p=P",
           "4, 3, False, P", "4, (2, 3), p=P", "4, replace=False, p=P"]  # fmt: skip


@pytest.mark.parametrize("text", CHOICES)
def test_choices(text, tmp_path):
    likely = "np.array([0.1, 0.2, 0.3, 0.4])"
    f = made(f"return (g.choice({text.replace('P', likely)}),)", tmp_path)
    for x in (np.arange(3.0, 40.0), np.arange(77, dtype=np.int32)):
        compare(f, np.random.PCG64, 6, x)


def test_choices_of_rows():
    def f(g, x):
        return g.choice(x, 3), g.choice(x, 2, replace=False), g.choice(x, 4, axis=1)

    compare(f, np.random.PCG64, 6, np.arange(24.0).reshape(4, 6))


def test_wrong_choices(tmp_path):
    for text in (
        "0",
        "3, 4, replace=False",
        "3, 2, p=np.ones(2) / 2",
        "3, 2, p=np.ones(3)",
        "3, 3, False, np.array([0.5, 0.5, 0.0])",
        "2, 1, p=np.array([-0.5, 1.5])",
    ):
        f = made(f"return g.choice({text})", tmp_path)
        with pytest.raises(ValueError):
            f(np.random.default_rng(1))
        with pytest.raises(ValueError):
            njit(f)(np.random.default_rng(1))

"""np.random in compiled functions: RandomState's numbers for a seed, a state for each thread."""

import random
import threading

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit, prange

EXACT = {
    "random": lambda: np.random.random(),
    "random many": lambda: np.random.random(5),
    "random_sample": lambda: np.random.random_sample((3, 4)),
    "ranf": lambda: np.random.ranf(3),
    "rand": lambda: np.random.rand(),
    "rand many": lambda: np.random.rand(2, 3),
    "uniform": lambda: np.random.uniform(-2, 3.5),
    "uniform default": lambda: np.random.uniform(),
    "uniform many": lambda: np.random.uniform(1, 2, 7),
    "uniform size": lambda: np.random.uniform(size=(2, 2)),
    "randint": lambda: np.random.randint(10),
    "randint range": lambda: np.random.randint(-5, 6),
    "randint many": lambda: np.random.randint(0, 1000, 50),
    "randint size": lambda: np.random.randint(7, size=(3, 3)),
    "randint one": lambda: np.random.randint(3, 4),
    "randint wide": lambda: np.random.randint(-(2**62), 2**62, 9),
    "randint 32 bits": lambda: np.random.randint(0, 2**32, 9),
    "randint 33 bits": lambda: np.random.randint(0, 2**33 - 5, 9),
    "permutation": lambda: np.random.permutation(17),
    "choice": lambda: np.random.choice(9),
    "choice many": lambda: np.random.choice(9, 20),
    "choice of array": lambda: np.random.choice(np.array([1.5, 2.5, 7.0]), (2, 5)),
    "choice once": lambda: np.random.choice(10, 4, False),
    "choice likely": lambda: np.random.choice(3, 9, True, np.array([0.2, 0.5, 0.3])),
}
# To the last bits of the logarithm, exponential or power.
CLOSE = {
    "normal": lambda: np.random.normal(),
    "normal many": lambda: np.random.normal(3, 0.5, 9),
    "randn": lambda: np.random.randn(),
    "randn many": lambda: np.random.randn(3, 3),
    "standard_normal": lambda: np.random.standard_normal((2, 5)),
    "exponential": lambda: np.random.exponential(2.0, 5),
    "standard_exponential": lambda: np.random.standard_exponential(),
    "gamma": lambda: np.random.gamma(2.5, 2.0, 20),
    "small gamma": lambda: np.random.gamma(0.3, 1.0, 20),
    "standard_gamma": lambda: np.random.standard_gamma(1.0, 5),
    "chisquare": lambda: np.random.chisquare(3, 9),
    "f": lambda: np.random.f(3, 5, 9),
    "beta": lambda: np.random.beta(2, 3.5, 9),
    "small beta": lambda: np.random.beta(0.5, 0.25, 9),
    "standard_t": lambda: np.random.standard_t(4, 9),
    "standard_cauchy": lambda: np.random.standard_cauchy(9),
    "pareto": lambda: np.random.pareto(3, 9),
    "weibull": lambda: np.random.weibull(2, 9),
    "power": lambda: np.random.power(3, 9),
    "rayleigh": lambda: np.random.rayleigh(2.0, 9),
    "lognormal": lambda: np.random.lognormal(0.5, 0.25, 9),
    "laplace": lambda: np.random.laplace(1, 2, 9),
    "gumbel": lambda: np.random.gumbel(1, 2, 9),
    "binomial": lambda: np.random.binomial(10, 0.3, 50),
    "binomial wide": lambda: np.random.binomial(1000, 0.7, 200),
    "binomial large": lambda: np.random.binomial(10**6, 0.25, 200),
    "binomial one": lambda: np.random.binomial(7, 0.5),
    "negative_binomial": lambda: np.random.negative_binomial(5, 0.3, 50),
    "noncentral_chisquare": lambda: np.random.noncentral_chisquare(3, 2.0, 20),
    "small noncentral_chisquare": lambda: np.random.noncentral_chisquare(0.5, 2.0, 20),
    "vonmises": lambda: np.random.vonmises(0.5, 4.0, 20),
    "wide vonmises": lambda: np.random.vonmises(0.5, 1e-6, 20),
    "zipf": lambda: np.random.zipf(2.5, 50),
    "logseries": lambda: np.random.logseries(0.9, 50),
    "hypergeometric": lambda: np.random.hypergeometric(15, 25, 9, 50),
    "hypergeometric more": lambda: np.random.hypergeometric(150, 250, 90, 50),
    "multinomial": lambda: np.random.multinomial(20, [0.2, 0.5, 0.3]),
    "multinomial many": lambda: np.random.multinomial(100, np.array([0.2, 0.5, 0.3]), 9),
    "dirichlet": lambda: np.random.dirichlet([1.0, 2.5, 0.5]),
    "dirichlet many": lambda: np.random.dirichlet((1.0, 2.5, 0.5), 7),
    "choice apart": lambda: np.random.choice(6, 4, False, np.array([0.1, 0.3, 0.1, 0.1, 0.2, 0.2])),
    "logistic": lambda: np.random.logistic(1, 2, 9),
    "wald": lambda: np.random.wald(3, 2, 9),
    "triangular": lambda: np.random.triangular(-1, 0.5, 2, 9),
    "geometric": lambda: np.random.geometric(0.5, 9),
    "geometric rare": lambda: np.random.geometric(0.01, 9),
    "poisson": lambda: np.random.poisson(3.5, 20),
    "poisson large": lambda: np.random.poisson(40.0, 20),
}


@njit
def start(seed):
    np.random.seed(seed)


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_the_numbers_are_those_of_randomstate(name):
    function = EXACT.get(name) or CLOSE[name]
    compiled = njit(function)
    for seed in (0, 12345, 2**32 - 1):
        np.random.seed(seed)
        start(seed)
        for _ in range(400):
            want, got = function(), compiled()
            assert np.shape(want) == np.shape(got)
            if name in EXACT:
                np.testing.assert_array_equal(got, want)
            else:
                np.testing.assert_allclose(got, want, rtol=2e-14, atol=2e-14)
            if isinstance(want, np.ndarray):
                assert want.dtype == got.dtype


def test_shuffle():
    @njit
    def f(x):
        np.random.seed(5)
        np.random.shuffle(x)

    for x in (np.arange(30), np.arange(30.0).reshape(10, 3), np.arange(24).reshape(4, 3, 2)):
        got, want = x.copy(), x.copy()
        f(got)
        np.random.seed(5)
        np.random.shuffle(want)
        np.testing.assert_array_equal(got, want)


def test_permutation_of_an_array():
    @njit
    def f(x):
        np.random.seed(6)
        return np.random.permutation(x)

    x = np.arange(10.0)
    np.random.seed(6)
    np.testing.assert_array_equal(f(x), np.random.permutation(x))
    np.testing.assert_array_equal(x, np.arange(10.0))


def test_the_state_is_not_numpys():
    draw = njit(lambda: np.random.random())
    np.random.seed(1)
    start(1)
    first = draw()
    assert np.random.random() == first
    start(1)
    np.random.random(5)
    assert draw() == first
    # Seeding through NumPy changes nothing here.
    np.random.seed(1)
    assert draw() != first


def test_mixed_calls_share_the_state():
    @njit
    def f():
        np.random.seed(9)
        a = np.random.normal()
        b = np.random.random()
        c = np.random.normal()  # the one that was kept
        return a, b, c, np.random.randint(100)

    s = np.random.RandomState(9)
    want = s.normal(), s.random_sample(), s.normal(), s.randint(100)
    np.testing.assert_allclose(f(), want, rtol=1e-14)


def test_threads_have_states_of_their_own():
    draw = njit(lambda: np.random.random())
    start(3)
    first = draw()
    start(3)
    others = []
    t = threading.Thread(target=lambda: others.append(draw()))
    t.start()
    t.join()
    assert draw() == first
    assert others[0] != first


def test_without_a_seed_processes_differ():
    # A thread's state begins from the system's entropy.
    draw = njit(lambda: np.random.random())
    seen = []
    for _ in range(3):
        t = threading.Thread(target=lambda: seen.append(draw()))
        t.start()
        t.join()
    assert len(set(seen)) == 3


@njit(parallel=True)
def pi(n):
    inside = 0
    for _ in prange(n):
        x, y = np.random.random(), np.random.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


@njit(parallel=True)
def noise(out):
    for i in prange(out.size):
        out[i] = np.random.random()


def test_parallel_loops_repeat_for_a_seed():
    start(7)
    first = pi(200_000)
    second = pi(200_000)
    assert abs(first - np.pi) < 0.02
    assert first != second
    start(7)
    assert pi(200_000) == first
    a, b = np.zeros(50_000), np.zeros(50_000)
    start(8)
    noise(a)
    noise(b)
    assert np.unique(np.concatenate([a, b])).size == 100_000
    assert abs(a.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 0.02
    start(8)
    noise(b)
    np.testing.assert_array_equal(a, b)


def test_parallel_loops_leave_the_outer_state_alone():
    @njit(parallel=True)
    def f(n):
        np.random.seed(4)
        a = np.random.random()
        total = 0.0
        for _ in prange(n):
            total += np.random.random()
        return a, np.random.random(), total

    a, b, total = f(10_000)
    s = np.random.RandomState(4)
    assert (a, b) == (s.random_sample(), s.random_sample())
    assert f(10_000)[2] == total


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.random.seed(x), "Seed must be between"),
        (lambda x: np.random.normal(0, x), "scale < 0"),
        (lambda x: np.random.randint(x, x), "low >= high"),
        (lambda x: np.random.choice(x + 4, 4, False), "larger sample"),
        (lambda x: np.random.poisson(x), "lam < 0"),
        (lambda x: np.random.geometric(x), "p <= 0"),
    ],
)
def test_wrong_parameters(function, message):
    with pytest.raises(ValueError, match=message):
        njit(function)(-1)


def test_not_in_kernels():
    from numbus import cuda

    @cuda.jit
    def kernel(x):
        x[0] = np.random.random()

    with pytest.raises(TypeError, match="does not work in a kernel") as e:
        kernel[1, 1](np.zeros(1))
    assert "xoroshiro128p_uniform_float64" in str(e.value)


PYTHON = {
    "random": lambda: random.random(),
    "uniform": lambda: random.uniform(-2, 3.5),
    "randrange": lambda: random.randrange(10),
    "randrange of three": lambda: random.randrange(-9, 90, 7),
    "randint": lambda: random.randint(-5, 2**40),
    "getrandbits": lambda: random.getrandbits(50),
    "gauss": lambda: random.gauss(1.0, 2.0),
    "normalvariate": lambda: random.normalvariate(1.0, 2.0),
    "lognormvariate": lambda: random.lognormvariate(0.5, 0.25),
    "expovariate": lambda: random.expovariate(2.0),
    "triangular": lambda: random.triangular(1.0, 3.0, 2.5),
    "vonmisesvariate": lambda: random.vonmisesvariate(1.0, 4.0),
    "gammavariate": lambda: random.gammavariate(2.5, 2.0),
    "gammavariate of one": lambda: random.gammavariate(1.0, 2.0),
    "gammavariate small": lambda: random.gammavariate(0.4, 2.0),
    "betavariate": lambda: random.betavariate(2.0, 0.5),
    "paretovariate": lambda: random.paretovariate(3.0),
    "weibullvariate": lambda: random.weibullvariate(2.0, 3.0),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_random(name):
    function = PYTHON[name]
    compiled = njit(function)

    @njit
    def begin(n):
        random.seed(n)

    for seed in (0, 7, -3, 2**31, 2**40 + 5):
        begin(seed)
        ours = [compiled() for _ in range(40)]
        random.seed(seed)
        assert ours == pytest.approx([function() for _ in range(40)], rel=1e-13)


def test_python_shuffle():
    def f(x):
        random.seed(3)
        random.shuffle(x)
        return x

    assert njit(f)(np.arange(30)).tolist() == f(list(range(30)))


DRAWS = (
    "standard_exponential() standard_normal() random() uniform(-1.,2.) normal(0.5,2.) "
    "integers(5) exponential(1.) poisson(3.) gamma(2.) binomial(4,.5) standard_gamma(2.) "
    "choice(5) geometric(.5) triangular(0.,1.,2.) choice(np.arange(3.)) choice([1,2]) "
    "standard_cauchy() integers(5,dtype=int) integers(5,dtype=np.int8) "
    "random(dtype=np.float32) logseries(.5) vonmises(0.,1.) zipf(3.) "
    "standard_normal(dtype=np.float32) weibull(1.) laplace() chisquare(2.) beta(1.,2.) "
    "logistic() gumbel() rayleigh() power(2.) pareto(2.) wald(1.,2.) f(2.,3.) "
    "standard_t(3.) lognormal() negative_binomial(3,.5) noncentral_chisquare(2.,1.)"
).split()
SEEDED = (
    "rand() randn() random() uniform(-1.,2.) normal() randint(5) standard_normal() poisson(3.) "
    "choice(5) choice(np.arange(3)) binomial(3,.5) exponential() random_sample()"
).split()
PYTHONS = (
    "random() uniform(1,2) randint(1,3) gauss(0.,1.) randrange(5) expovariate(1.) getrandbits(5) "
    "triangular(0.,1.,.5) betavariate(1.,2.) normalvariate(0.,1.) paretovariate(2.)"
).split()
OF_WHAT = [*[("r", d) for d in DRAWS], *[("np.random", d) for d in SEEDED]]


@pytest.mark.parametrize("owner, draw", [*OF_WHAT, *[("random", d) for d in PYTHONS]])
def test_what_is_drawn_is_a_number_of_pythons_where_it_is_there(owner, draw):
    """~ tells Python's bools from NumPy's, which comparisons with NumPy's numbers give."""
    f = function_of(f"~({owner}.{draw} > -9)", "r", random=random)
    want, got = f(np.random.default_rng(3)), njit(f)(np.random.default_rng(3))
    assert type(got) is type(np.asarray(want).item()) and got == want

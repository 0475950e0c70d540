"""numpy.random in the sweep: generators, legacy states and the functions of the module, from equal
states: the same numbers, bit for bit, and the same state afterwards.
"""

import inspect

import numbus as nb
import numpy as np
import stand_ins  # noqa: F401
from numbus import _core as core
from sweep_calls import ABSENT, Call, Given, given, identical

BITS = "PCG64 PCG64DXSM Philox SFC64 MT19937".split()
MANY = [20_011, (150, 140), (3, 7001)]  # which devices draw by themselves
REAL, WHOLE = (
    ["float64", "float64", "float32", "int64", "int8", "float16", "bool"],
    ["int64", "uint8", "int32"],
)

# Parameters: numbers that are allowed, and some that are not.
LOC = [0.0, 1.5, -3, 1e308, np.float32(2), True], [np.nan, np.inf, 1j]
SCALE = [1.0, 0.5, 3, 0, 1e308, np.float32(2.5)], [-1, np.nan, -0.0]
POSITIVE = [1.0, 0.3, 2.5, 7, 100, np.float32(0.75), 1e-3], [0, -1, np.nan]
SHARE = [0.5, 0.1, 0.9, 0.0, 1.0, 0.3333], [-0.1, 1.5, np.nan]
INSIDE = [0.5, 0.1, 0.9, 0.3333], [0.0, 1.0, -0.1, 1.5, np.nan]
COUNT = [10, 1, 0, 100, 5000, np.int8(7), 3.0], [-1, 2.5, 1 << 63, np.nan]
ABOVE_ONE = [2.0, 1.5, 4, 3.25], [1, 0, np.nan]

DISTRIBUTIONS = {
    "beta": {"a": POSITIVE, "b": POSITIVE},
    "binomial": {"n": COUNT, "p": SHARE},
    "chisquare": {"df": POSITIVE},
    "exponential": {"scale": SCALE},
    "f": {"dfnum": POSITIVE, "dfden": POSITIVE},
    "gamma": {"shape": SCALE, "scale": SCALE},
    "geometric": {"p": INSIDE},
    "gumbel": {"loc": LOC, "scale": SCALE},
    "hypergeometric": {"ngood": COUNT, "nbad": COUNT, "nsample": COUNT},
    "laplace": {"loc": LOC, "scale": SCALE},
    "logistic": {"loc": LOC, "scale": SCALE},
    "lognormal": {"mean": LOC, "sigma": SCALE},
    "logseries": {"p": INSIDE},
    "negative_binomial": {"n": POSITIVE, "p": INSIDE},
    "noncentral_chisquare": {"df": POSITIVE, "nonc": SCALE},
    "noncentral_f": {"dfnum": POSITIVE, "dfden": POSITIVE, "nonc": SCALE},
    "normal": {"loc": LOC, "scale": SCALE},
    "pareto": {"a": POSITIVE},
    "poisson": {"lam": ([1.0, 0.1, 0, 20, 1000.5], [-1, np.nan, 1e20])},
    "power": {"a": POSITIVE},
    "rayleigh": {"scale": SCALE},
    "standard_cauchy": {},
    "standard_t": {"df": POSITIVE},
    "triangular": {
        "left": ([0.0, -1, 0.5], [3]),
        "mode": ([0.5, 0.75], [9, -9]),
        "right": ([1.0, 2, 7], [0]),
    },
    "uniform": {"low": LOC, "high": ([1.0, 2.5, -7, np.float32(3)], [np.inf, np.nan, 1e308])},
    "vonmises": {"mu": LOC, "kappa": POSITIVE},  # of a huge kappa RandomState does not come back
    "wald": {"mean": POSITIVE, "scale": POSITIVE},
    "weibull": {"a": SCALE},
    "zipf": {"a": ABOVE_ONE},
}
DEFAULTS = {
    "exponential": 0, "gamma": 1, "gumbel": 0, "laplace": 0, "logistic": 0, "lognormal": 0,
    "normal": 0, "poisson": 0, "rayleigh": 0, "uniform": 0,
}  # fmt: skip


def size(rng, many=False):
    if many and rng.random() < 0.04:
        return rng.choice(MANY)
    if rng.random() < 0.03:
        return rng.choice([-1, 2.5, "x", (2, -1), (2.0,), [1, "x"], np.array([2, 3]), ["x"]])
    given = [None, 0, 1, 3, 7, (), (2, 3), (0,), (2, 0), (1, 1, 2), [2, 2], np.int64(3), (4,)]
    return rng.mostly(ABSENT, *given, share=0.25)


def parameter(rng, values):
    """A number, or an array that broadcasts with others; seldom one that is not allowed."""
    good, bad = values
    pick = lambda: rng.choice(bad if rng.random() < 0.02 else good)  # noqa: E731
    if rng.random() < 0.7:
        return pick()
    if rng.random() < 0.03:
        return rng.choice(["x", None, 1j, [], [[1.0], [2.0, 3.0]]])
    shape = rng.choice([(3,), (1,), (2, 1), (2, 3), (0,), (1, 3), ()])
    flat = [pick() for _ in range(int(np.prod(shape)))]
    x = np.array([0.5 if isinstance(v, complex) else v for v in flat], float).reshape(shape)
    dtype = np.dtype(rng.choice(REAL))
    if np.isfinite(x).all() and np.abs(x).max(initial=0) < 100 and dtype.kind != "b":
        with np.errstate(all="ignore"):
            x = x.astype(dtype) if dtype.kind == "f" or (x == np.rint(x)).all() else x
    if rng.random() < 0.15:
        return x.tolist()
    return given(rng, np.asarray(x))


def draw_distribution(rng, name, legacy):
    values = DISTRIBUTIONS[name]
    chosen = {key: parameter(rng, allowed) for key, allowed in values.items()}
    keys = list(values)
    if name in DEFAULTS and rng.random() < 0.3:
        for key in keys[DEFAULTS[name] :][rng.randrange(len(keys)) :]:
            chosen.pop(key, None)
    return chosen | {"size": size(rng, name in ("uniform", "normal", "exponential"))}


def with_out(rng, chosen, dtype):
    """`out` for a shape and a type: of our own, seldom one that does not fit."""
    shape = chosen.get("size", ABSENT)
    if rng.random() >= 0.25 or isinstance(shape, (str, float)):
        return {}
    try:
        x = np.zeros(
            (2, 3) if shape in (ABSENT, None) else shape,
            rng.mostly(dtype, "float64", "float32", "int64", share=0.9),
        )
    except Exception:
        return {}
    if rng.random() < 0.1:
        x = rng.choice([x[..., None], x.T])
    if rng.random() < 0.2:
        x = np.asfortranarray(x)
    made = given(rng, x) if rng.random() < 0.2 else Given(x)
    return {"out": Given(x) if made.view in ("list", "NumPy's", "repeated", "pending") else made}


def float_type(rng):
    return rng.mostly(
        ABSENT, "float32", np.float32, "float64", float, "f4", ">f8", "float16", int, None, "x"
    )


def draw_standard(rng, name, legacy):
    chosen = {"size": size(rng, True)}
    if name == "standard_gamma":
        chosen["shape"] = parameter(rng, SCALE)
    if legacy:
        return chosen
    dtype = float_type(rng)
    if name == "standard_exponential":
        chosen["method"] = rng.mostly(ABSENT, "zig", "inv", "x", None, share=0.6)
    single = dtype in ("float32", np.float32, "f4")
    return chosen | {"dtype": dtype} | with_out(rng, chosen, "float32" if single else "float64")


LIMITS = [
    0,
    1,
    -1,
    10,
    100,
    127,
    -128,
    255,
    256,
    1 << 31,
    -(1 << 31),
    1 << 32,
    1 << 40,
    (1 << 63) - 1,
]
LIMITS += [1 << 63, -(1 << 63), (1 << 64) - 1, 1 << 64, 3.0, 2.5, np.int8(5), True]
INTEGERS = "int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool".split()


def limit(rng):
    if rng.random() < 0.75:
        return rng.choice([0, 1, 10, 100, 5, -3]) if rng.random() < 0.6 else rng.choice(LIMITS)
    shape = rng.choice([(3,), (1,), (2, 1), (0,), (2, 3), ()])
    return given(rng, rng.numbers(shape, rng.choice(WHOLE + ["float64"]), 0, 90))


def draw_integers(rng, name, legacy):
    low, high = limit(rng), rng.mostly(ABSENT, None, share=0.2)
    if high is ABSENT and rng.random() < 0.8:
        high = limit(rng)
        plain = isinstance(low, int) and isinstance(high, int)
        if plain and rng.random() < 0.9:
            low, high = min(low, high), max(low, high) + (low == high)
    dtype = rng.mostly(
        ABSENT, *INTEGERS, int, np.uint8, "i4", ">i4", "float64", "x", None, share=0.4
    )
    many = size(rng, True)
    chosen = {"low": low, "high": high, "size": many}
    if any([isinstance(x, Given) and not np.size(x.of(np)) for x in (low, high)]):
        chosen["size"] = ABSENT  # of no limits NumPy gives numbers that it has not drawn
    if name != "random_integers":
        chosen["dtype"] = dtype
    if name == "integers":
        chosen["endpoint"] = rng.mostly(ABSENT, True, False, 1, share=0.6)
    return chosen


def draw_uniform(rng, name, legacy):
    if name in ("rand", "randn"):
        dims = rng.choice(
            [(), (3,), (2, 3), (0,), (2, 0, 1), (-1,), (2.5,), ("x",), (np.int64(2),), ((2, 3),)]
        )
        return {f"d{k}": n for k, n in enumerate(dims)}
    chosen = {"size": size(rng, True)}
    if legacy:
        return chosen
    dtype = float_type(rng)
    single = dtype in ("float32", np.float32, "f4")
    return chosen | {"dtype": dtype} | with_out(rng, chosen, "float32" if single else "float64")


def collection(rng, legacy):
    """What can be shuffled: an array of ours, a list, seldom a number."""
    shape = rng.choice([(5,), (5,), (4, 3), (3, 2, 2), (1,), (0,), (0, 3), (3, 0), (1, 4), ()])
    x = rng.numbers(
        shape, rng.choice(["float64", "int64", "float32", "uint8", "complex64", "bool"])
    )
    return given(rng, x)


def axis_of(rng):
    return rng.mostly(ABSENT, 0, 1, -1, 2, 5, None, 0.5, np.int8(0), share=0.5)


def draw_shuffle(rng, name, legacy):
    x = collection(rng, legacy)
    if x.view in ("repeated", "NumPy's"):
        x = Given(x.of(np))
    if rng.random() < 0.06:
        x = rng.choice([3, "abc", (1, 2, 3), [[1, 2], [3, 4], [5]], ["a", "b", "c"]])
    return {"x": x} if legacy else {"x": x, "axis": axis_of(rng)}


def draw_permutation(rng, name, legacy):
    x = collection(rng, legacy)
    if rng.random() < 0.3:
        x = rng.choice([5, 0, 1, np.int64(4), 2.5, -1, "abc", (1, 2, 3), [], ["a", "b"], True])
    chosen = {"x": x} if legacy else {"x": x, "axis": axis_of(rng)}
    if name == "permuted" and isinstance(x, Given) and rng.random() < 0.3:
        like = np.asarray(x.of(np))
        chosen["out"] = Given(
            rng.mostly(np.zeros_like(like), np.zeros(2), np.zeros(like.shape, "f4"), share=0.8)
        )
    return chosen


def draw_choice(rng, name, legacy):
    a = rng.mostly(collection(rng, legacy), 5, 1, 0, 10, -1, 2.5, [1, 2, 3], "abc", np.int64(6))
    n = a
    if isinstance(a, Given):
        n = len(np.atleast_1d(a.of(np)))
    elif not isinstance(a, (int, np.integer)):
        n = 3
    axis = axis_of(rng) if not legacy and rng.random() < 0.3 else ABSENT
    p = ABSENT
    if rng.random() < 0.4 and 0 < n < 30:
        x = np.arange(1.0, n + 1) if rng.random() < 0.8 else np.eye(int(n))[0]
        p = given(rng, x / x.sum())
        if rng.random() < 0.1:
            p = rng.choice(
                [None, [0.5, 0.5], given(rng, x), given(rng, -x / x.sum()), [np.nan] * int(n)]
            )
    chosen = {"a": a, "size": size(rng), "replace": rng.mostly(ABSENT, False, True, 0), "p": p}
    if legacy:
        return chosen
    return chosen | {"axis": axis, "shuffle": rng.mostly(ABSENT, False, True, share=0.6)}


def draw_multivariate_normal(rng, name, legacy):
    n = rng.choice([1, 2, 3, 0]) if rng.random() < 0.9 else 2
    mean = given(rng, rng.numbers((n,), rng.choice(["float64", "float32", "int64"])))
    x = rng.numbers((n, n), rng.choice(["float64", "float32"]))
    cov = rng.mostly(
        x @ x.T + np.eye(n, dtype=x.dtype),
        x,
        np.eye(n),
        np.zeros((n, n)),
        np.eye(n + 1),
        x[:1],
        share=0.7,
    )
    chosen = {"mean": mean, "cov": given(rng, cov), "size": size(rng)}
    chosen["check_valid"] = rng.mostly(ABSENT, "warn", "raise", "ignore", "x", share=0.6)
    chosen["tol"] = rng.mostly(ABSENT, 1e-3, 0, share=0.8)
    if not legacy:
        chosen["method"] = rng.mostly(ABSENT, "svd", "eigh", "cholesky", "x", share=0.4)
    return chosen


def draw_multinomial(rng, name, legacy):
    n = parameter(rng, COUNT)
    shape = rng.choice([(3,), (1,), (5,), (0,)] + ([(2, 3), (2, 1, 3)] if not legacy else []))
    p = rng.numbers(shape, "float64", 0.1, 1)
    p = p / p.sum(-1, keepdims=True)
    p = rng.mostly(
        given(rng, p),
        given(rng, p * 2),
        given(rng, p.astype("f4")),
        given(rng, -p),
        [0.2, 0.8],
        share=0.8,
    )
    return {"n": n, "pvals": p, "size": size(rng)}


def draw_multivariate_hypergeometric(rng, name, legacy):
    colors = rng.numbers(rng.choice([(3,), (1,), (4,), (0,)]), rng.choice(WHOLE), 0, 20)
    colors = rng.mostly(
        given(rng, colors), [3, 2], [-1, 2], [0.5, 2.0], given(rng, colors[None]), share=0.85
    )
    method = rng.mostly(ABSENT, "marginals", "count", "x", share=0.5)
    return {
        "colors": colors,
        "nsample": rng.choice([0, 1, 3, 5, 1000, -1]),
        "size": size(rng),
        "method": method,
    }


def draw_dirichlet(rng, name, legacy):
    alpha = rng.numbers(
        rng.choice([(3,), (1,), (2,), (0,), (2, 2)]), rng.choice(["float64", "float32"]), 0.01, 2
    )
    alpha = rng.mostly(
        given(rng, alpha), [1, 2], [0.0, 1.0], [-1.0, 1], 3.0, given(rng, alpha / 100), share=0.8
    )
    return {"alpha": alpha, "size": size(rng)}


def draw_bytes(rng, name, legacy):
    return {"length": rng.choice([0, 1, 5, 16, -1, 2.5, "x", np.int64(3)])}


def draw_spawn(rng, name, legacy):
    return {"n_children": rng.choice([0, 1, 3, -1, 2.5])}


STANDARD = ["standard_normal", "standard_exponential", "standard_gamma"]
OTHER = {
    **dict.fromkeys(STANDARD, draw_standard),
    **dict.fromkeys(
        ["random", "random_sample", "ranf", "sample", "rand", "randn", "tomaxint"], draw_uniform
    ),
    **dict.fromkeys(["integers", "randint", "random_integers"], draw_integers),
    "bytes": draw_bytes,
    "choice": draw_choice,
    "dirichlet": draw_dirichlet,
    "multinomial": draw_multinomial,
    "multivariate_hypergeometric": draw_multivariate_hypergeometric,
    "multivariate_normal": draw_multivariate_normal,
    "permutation": draw_permutation,
    "permuted": draw_permutation,
    "shuffle": draw_shuffle,
    "spawn": draw_spawn,
}
OWNERS = {
    "Generator": np.random.Generator,
    "RandomState": np.random.RandomState,
    "random": np.random,
}
KNOWN = [*DISTRIBUTIONS, *OTHER]
NAMES = sorted(
    f"{kind}.{name}" for kind, owner in OWNERS.items() for name in KNOWN if hasattr(owner, name)
)
NAMES = [name for name in NAMES if name != "random.Generator"]


# --- generators ---------------------------------------------------------------------------------


def started(kind, bits, seed, before, ours):
    """What draws, in the state that a seed and some numbers drawn before leave."""
    module = nb.random if ours else np.random
    if kind == "random":
        np.random.seed(seed)  # the one state, NumPy's, of both modules
        owner = module
    elif kind == "Generator":
        owner = module.Generator(getattr(np.random, bits)(seed))
    else:
        owner = module.RandomState(getattr(np.random, bits)(seed))
    for name, args in before:
        getattr(owner, name)(*args)
    return owner


def state_of(kind, owner):
    if kind == "random":
        return np.random.get_state(legacy=False)
    if kind == "RandomState":
        return owner.get_state(legacy=False)
    return owner.bit_generator.state


def plain(state):
    """A state with lists in the place of arrays."""
    if isinstance(state, dict):
        return {key: plain(x) for key, x in state.items()}
    return np.asarray(state).tolist() if hasattr(state, "__array__") else state


def before_calls(rng, kind):
    if kind == "Generator":
        some = [
            ("random", (1, "float32")),
            ("integers", (5, None, 3, "int32")),
            ("random", (2,)),
            ("standard_normal", ()),
        ]
    else:
        some = [("standard_normal", ()), ("randint", (5,)), ("random_sample", (2,))]
    return rng.sample(some, rng.choice([0, 0, 1, 2]))


class Drawing:
    """The function of a generator that is made anew for each call, and what it leaves."""

    def __init__(self, name, start, ours):
        self.name, self.start, self.ours = name, start, ours

    def __call__(self, *args, **keywords):
        self.owner = started(*self.start, self.ours)
        try:
            return getattr(self.owner, self.name)(*args, **keywords)
        finally:
            self.state = plain(state_of(self.start[0], self.owner))

    def __repr__(self):
        return f"{self.start}"


def compare(got, want, call):
    if call.original.name == "spawn":
        assert [type(x) for x in got] == [nb.random.Generator] * len(want)
        got, want = [[plain(g.bit_generator.state) for g in x] for x in (got, want)]
        assert got == want
        return
    size = getattr(want, "size", 0)
    tails = call.original.name in (
        "normal",
        "standard_normal",
        "exponential",
        "standard_exponential",
    )
    if size >= 20_000 and tails and core.get_device() != "cpu":
        np.testing.assert_array_max_ulp(np.asarray(got), want, 4)
    else:
        identical(got, want)
    assert call.ours.state == call.original.state, "another state afterwards"


def signature(owner, name):
    """Of methods of C, by the line that begins their text."""
    text = (getattr(owner, name).__doc__ or "").strip().split("\n\n")[0]
    inside = " ".join(text.split()).partition("(")[2].rpartition(")")[0]
    names = [x.partition("=")[0].strip() for x in inside.split(",") if x.strip()]
    if name in ("rand", "randn"):
        return inspect.Signature(
            [inspect.Parameter(f"d{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(4)]
        )
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(x, kind) for x in names if x.isidentifier()])


def call(name, rng):
    kind, _, name = name.partition(".")
    bits = "MT19937" if kind == "random" else rng.mostly(rng.choice(BITS), "PCG64", "MT19937")
    start = kind, bits, rng.randrange(1000), before_calls(rng, kind)
    functions = Drawing(name, start, True), Drawing(name, start, False)
    draw = OTHER.get(name, draw_distribution)
    chosen = draw(rng, name, kind != "Generator")
    made = Call(functions, chosen, compare, rng, signature=signature(OWNERS[kind], name))
    made.note = f", {start}"
    made.decided = ("Supplied output array must be",)  # a copy of it, on another device, is dense
    return made

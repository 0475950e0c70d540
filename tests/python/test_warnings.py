"""RuntimeWarnings of floating-point errors: NumPy is the oracle of texts and lines."""

import itertools
import os
import subprocess
import sys
import warnings

import numbus as nb
import numpy as np
import pytest
from test_float_errors import STATEMENTS

DEVICE = os.environ.get("NUMBUS_DEVICE", "cpu")
pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(DEVICE.startswith("cuda"), reason="work on a GPU gives no warnings"),
]


def given(function, *arguments):
    """(category, text) of the warnings of a call whose result is read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
            if hasattr(result, "tolist"):
                result.tolist()
        except (TypeError, ValueError):
            pass
    return sorted((w.category.__name__, str(w.message)) for w in caught)


def special_values(dtype):
    """Numbers that operations have no value for, their neighbours, and ordinary ones."""
    inf, nan = np.inf, np.nan
    kind = np.dtype(dtype).kind
    if kind == "f":
        big, tiny = np.finfo(dtype).max, np.finfo(dtype).tiny
        values = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3.7, 710, -710, big, -big, tiny, inf, -inf, nan]
    elif kind == "c":
        values = [0, 1, -1, 1j, inf, nan, complex(inf, nan), 1e38, 1 + 2j]
    else:
        values = [0, 1, 2, 3, 100, np.iinfo(dtype).max]
        if kind == "i":
            values += [-1, -3, np.iinfo(dtype).min]
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


# Their results are finite where their own steps overflow in NumPy.
HIDDEN = {"logaddexp", "logaddexp2"}
ROWS = [
    row["name"]
    for row in __import__("numbus")._core.table()
    if hasattr(np, row["name"]) and row["nin"] < 3 and row["name"] not in HIDDEN
]


@pytest.fixture
def at_once(core):
    """Small operations are carried out in their calls, as they are for users."""
    if DEVICE != "cpu":
        pytest.skip("at once is only what lies where the host reads it")
    core.set_at_once(512)
    core.set_without_plan(1)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "c16"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_at_once(xp, at_once, name, dtype):
    theirs, ours = getattr(np, name), getattr(xp, name)
    values = special_values(dtype)
    for numbers in itertools.product(values, repeat=theirs.nin):
        operands = [np.full(3, number, dtype) for number in numbers]
        want = given(theirs, *operands)
        assert given(ours, *map(xp.array, operands)) == want, numbers


@pytest.fixture(params=["direct", "interp", "compiled"])
def pending(request, core):
    """Operations are recorded, and carried out in this way."""
    at_once = core.set_at_once(0)
    if request.param == "direct":
        before = core.set_without_plan(2)
        yield
        core.set_without_plan(before)
    else:
        core.set_mode(request.param)
        yield
        core.set_mode("auto")
    core.set_at_once(at_once)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_pending(xp, pending, name, dtype):
    """All values meet in one call, whose warnings are those of NumPy's call."""
    theirs, ours = getattr(np, name), getattr(xp, name)
    numbers = np.array(list(itertools.product(special_values(dtype), repeat=theirs.nin)), dtype)
    operands = [numbers[:, k].copy() for k in range(theirs.nin)]
    assert given(ours, *map(xp.array, operands)) == given(theirs, *operands)


@pytest.mark.parametrize("name", ROWS)
def test_ordinary_values_warn_of_nothing(xp, pending, name):
    row = next(r for r in xp._core.table() if r["name"] == name)
    low, high = row["domain"]
    numbers = np.random.default_rng(1).uniform(low, high, (2, 1001))
    if name in ("arccosh",):
        numbers = np.abs(numbers) + 1
    operands = numbers[: row["nin"]]
    want = given(getattr(np, name), *operands)
    assert given(getattr(xp, name), *map(xp.array, operands)) == want


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(xp, at_once, statement):
    def run(module):
        names = {
            "np": module,
            "a": module.arange(1.0, 5.0),
            "z": module.zeros(4),
            "i": module.arange(4),
            "zi": module.zeros(4, int),
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = eval(compile(statement, "<statement>", "eval"), names)
            if hasattr(result, "tolist"):
                result.tolist()
        return [(str(w.message), w.filename, w.lineno) for w in caught]

    assert run(xp) == run(np)


FUSED = [
    ("divide by zero encountered in divide", lambda xp, a, z: (a + 1) / z * 2),
    ("divide by zero encountered in log", lambda xp, a, z: xp.log(z * a) + a),
    ("invalid value encountered in log", lambda xp, a, z: 2 * xp.log(-a) - z),
    ("invalid value encountered in sqrt", lambda xp, a, z: xp.sqrt(z - a) + 1),
    ("overflow encountered in multiply", lambda xp, a, z: (a + 1e308) * 10 - z),
    ("overflow encountered in exp", lambda xp, a, z: xp.exp(a * 1000) + z),
    ("divide by zero encountered in divide", lambda xp, a, z: (a / z).sum()),
    ("overflow encountered in reduce", lambda xp, a, z: (a * 0 + 1e308).sum()),
]


@pytest.mark.parametrize("size", [1001, 40_003])
@pytest.mark.parametrize("number", range(len(FUSED)))
def test_fused(xp, core, pending, number, size):
    text, function = FUSED[number]
    a, z = xp.arange(1.0, size + 1), xp.zeros(size)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(xp, a, z)
        core.flush()
        del result
        a + z
    told = {str(w.message) for w in caught}
    assert text in told
    assert {w.filename for w in caught} == {__file__}
    line = function.__code__.co_firstlineno
    assert {w.lineno for w in caught} == {line}


def test_the_errstate_when_recorded(xp, core):
    a = xp.zeros(5000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with xp.errstate(divide="ignore"):
            quiet = 1 / (a * 2)
        loud = 2 / (a * 3)
        float(quiet[0]), float(loud[0])
    assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("way", ["nested", "decorator", "raised", "seterr", "generator"])
def test_numpys_own_errstate_is_followed_and_comes_back(xp, core, ours, way):
    library = xp if ours else np
    a = xp.zeros(5000)

    def divide():
        float((a / (a * 2)).sum())

    def inside():
        with xp.errstate(over="ignore"):  # as a function of Numbus may do
            return given(divide)

    def parts():
        with library.errstate(all="ignore"):
            yield given(divide)

    text = "invalid value encountered in divide"
    before = np.geterr()
    if way == "nested":
        with library.errstate(all="ignore"):
            assert inside() == []
    elif way == "decorator":
        assert library.errstate(all="ignore")(inside)() == []
    elif way == "raised":
        with library.errstate(all="raise"), pytest.raises(FloatingPointError, match=text):
            a / (a * 2)
    elif way == "seterr":
        with library.errstate(all="ignore"):
            library.seterr(invalid="warn")
            assert inside() == [("RuntimeWarning", text)]
    else:
        one = parts()
        assert next(one) == []
        one.close()
    assert np.geterr() == before
    assert not core.checks_float_errors()
    assert given(divide) == [("RuntimeWarning", text)]


def test_an_errstate_that_is_older_than_numbus():
    program = """
import warnings, numpy
with numpy.errstate(all="ignore"):
    import numbus as nb
    a = nb.zeros(5000)
    float((a / (a * 2)).sum())
warnings.simplefilter("error")
float((a / (a * 2)).sum())
"""
    env = os.environ | {"NUMBUS_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.stderr.endswith("RuntimeWarning: invalid value encountered in divide\n")


@pytest.mark.parametrize("kind", ["divide", "invalid"])
def test_looks_that_were_not_asked_for_do_not_count(xp, at_once, kind):
    """A kernel of many elements is looked at less and less often, but by what is to be told."""
    x = xp.full(200_000, 0.5)
    y = xp.arange(200_000.0) - (0 if kind == "divide" else 1)

    def work():
        float((xp.exp(x) / y if kind == "divide" else xp.sqrt(y) + xp.exp(x))[3])

    with xp.errstate(**{kind: "ignore"}):
        for _ in range(11):
            work()
    assert len(given(work)) == 1


def test_once_a_line(xp, at_once):
    z = xp.zeros(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            1 / z
    assert len(caught) == 1


def test_warnings_as_errors(xp, at_once):
    a = xp.array([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            a / 0
        with pytest.raises(RuntimeWarning, match="overflow encountered in exp"):
            float(xp.exp(xp.full(5000, 1000.0))[0])
        assert (a + 1).tolist() == [2.0, 3.0]


def test_pending_work_warns_before_catch_warnings_is_left(xp):
    a = xp.zeros(5000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = 1 / a
    assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]
    assert kept.shape == (5000,)


def test_in_place(xp, at_once):
    for operation, text in (
        ("x /= 0", "divide by zero encountered in divide"),
        ("x *= 1e308", "overflow encountered in multiply"),
        ("x //= 0", "divide by zero encountered in floor_divide"),
        ("x **= 1e5", "overflow encountered in power"),
        ("x %= 0", "invalid value encountered in remainder"),
    ):
        for size in (3, 5000):
            x = xp.arange(2.0, size + 2) * 3
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                exec(compile(operation, "<line>", "exec"), {"x": x})
            told = [(str(w.message), w.filename) for w in caught]
            assert told == [(text, "<line>")], (operation, size)


@pytest.mark.parametrize("size", [4, 5000])
def test_assignments(xp, at_once, size):
    for kind, value in (("i4", np.nan), ("f4", 1e300), ("u1", np.inf), ("f8", 1e300)):
        told = []
        for module in (np, xp):
            target, source = module.zeros(size, kind), module.full(size, value)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                target[:] = source
                target.tolist()
            told.append([(str(w.message), w.filename, w.lineno) for w in caught])
        assert told[0] == told[1], (kind, value)


def test_masked_elements_warn_of_nothing(xp):
    a = xp.arange(10.0)
    chosen = a > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (1 / a[chosen]).shape == (9,)
        assert xp.log(a, where=chosen, out=xp.zeros(10))[0] == 0
        a[chosen] /= a[chosen]
        assert (a == xp.nan).sum() == 0


SCRIPT = """
import numpy as np
a = np.array([0.0, 1.0])
b = 1 / a
c = np.log(-a)
for k in range(3):
    d = a / 0
big = np.zeros(100_000)
e = 1 / big
f = np.exp(np.full(10, 1000.0))
print(np.float64(1) / 0, (big / 0).sum())
with np.errstate(all="ignore"):
    g = 1 / a
"""


def test_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    told = []
    for runner in ([], ["-m", "numbus"]):
        run = subprocess.run(
            [sys.executable, *runner, str(script)], capture_output=True, text=True, check=True
        )
        told.append((run.stdout, sorted(run.stderr.splitlines())))
    assert told[0] == told[1]


def test_a_kernel_that_reads_what_it_overwrites(xp, mode):
    """NumPy is asked about instructions that have other operands in a plan."""
    a = xp.where(xp.array([0, 2, 1]), 3, xp.nan).reshape(1, 3, 1)
    xp.add(a[:, :-1], a[:, 1:], out=a[:, :-1])
    a[a > -0.6397] = a[a > -0.6397]
    assert repr(a.ravel().tolist()) == "[nan, 6.0, 3.0]"


ROUTINES = [
    "np.cumsum(x)", "x.cumsum(axis=0)", "np.cumprod(x)", "x.sum()", "x.prod()",
    "(x * 1e-290).var()", "x @ x", "np.dot(x, x)", "np.inner(x, x)", "np.add.accumulate(x)",
    "np.divmod(x, x - x)[0]", "x ** -1.0", "x ** -1", "x[k] / x[k]", "x.max() - x.min()",
    "np.nansum(x)",
]  # fmt: skip


@pytest.mark.parametrize("size", [10, 3000])
@pytest.mark.parametrize("values", [[1e308], [np.inf, -np.inf], [0.0, 1.0], [1e308, -np.inf, 0.0]])
@pytest.mark.parametrize("statement", ROUTINES)
def test_routines_and_functions(xp, pending, statement, values, size):
    """Pending scans, products, variances and functions of several operations: texts are NumPy's."""
    numbers = np.resize(np.array(values), size)
    told = []
    for module in (np, xp):
        names = {"np": module, "x": module.array(numbers), "i": module.arange(size)}
        names["k"] = module.array(np.arange(size)[::-1].copy())
        told.append(set(given(eval, compile(statement, "<statement>", "eval"), names)))
    assert told[1] == told[0]


@pytest.mark.parametrize("size", [4, 5000])
@pytest.mark.parametrize("statement", ["t[:] = c", "t[k] = c[k]", "t[m] = c[m]", "c.astype('f8')"])
def test_dropped_imaginary_parts(xp, at_once, statement, size):
    told = []
    for module in (np, xp):
        names = {"np": module, "c": module.ones(size, complex), "t": module.zeros(size)}
        names |= {"k": module.arange(size), "m": module.arange(size) > 1}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(compile(statement, "<statement>", "exec"), names)
            names["t"].tolist()
        told.append([(w.category, str(w.message), w.filename, w.lineno) for w in caught])
    assert told[1] == told[0]
    assert len(told[0]) == 1


def test_where_without_out(xp, at_once):
    for size in (3, 5000):
        told = []
        for module in (np, xp):
            x = module.ones(size)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                module.add(x, 1, where=x > 0)
                module.add(x, 1, where=x > 0, out=None)
                module.add(x, 1, where=True)
            told.append([(w.category, str(w.message), w.lineno) for w in caught])
        assert told[1] == told[0]
        assert len(told[0]) == 1


def test_numbers_that_are_none_warn_of_nothing(xp, at_once):
    for dtype in ("f8", "f4", "f2"):
        for size in (3, 5000):
            x = xp.ones(size, dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                x *= xp.nan
                x += xp.inf
                x.tolist()


def test_numbers_beyond_the_type(xp, at_once):
    for statement in ("x * 1e300", "1e300 / x", "np.add(x, 1e300)"):
        for size in (3, 5000):
            told = []
            for module in (np, xp):
                names = {"np": module, "x": module.ones(size, "f4")}
                told.append(given(eval, statement, names))
            assert told[1] == told[0], (statement, size)


@pytest.mark.parametrize("elements", [0, 1024])
@pytest.mark.parametrize("text", [
    "z[:0].mean()", "np.mean(m[:, :0], axis=1)", "np.var(z[:0])", "z[:1].std(ddof=1)",
    "z[:2].var(ddof=3)", "np.var(m[:, :1], axis=1, ddof=1)", "np.mean(m[:0], axis=(0, 1))",
    "np.cov(z[:1])", "np.cov(z[:0])", "z.mean()", "z.var(ddof=1)", "m.std(axis=0, ddof=2)",
])  # fmt: skip
def test_averages_of_too_few_elements(text, elements):
    """Pending ones say so, too, and each once; what they divide by zero is another warning."""

    def told(xp):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            z, m = xp.arange(4.0) + 1, xp.ones((3, 3)) * 2
            np.asarray(eval(text, {"np": xp, "z": z, "m": m}))
        words = ("Mean of empty slice", "Degrees of freedom <= 0 for slice")
        return [str(w.message) for w in given if str(w.message) in words]

    before = nb._core.set_at_once(elements)
    try:
        assert told(nb) == told(np)
    finally:
        nb._core.set_at_once(before)


HALVES = [[60000] * 3, [np.inf, -np.inf, 1], [300, -300, 300]]
OTHERWISE = """
np.cov(x); np.corrcoef(x, y); np.convolve(x, y); np.isclose(x, y); np.round(x, 3); np.spacing(x)
np.linalg.norm(x); np.modf(x)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("elements", [0, 1024])
def test_sums_of_halves_overflow_as_they_are_rounded(elements):
    before = nb._core.set_at_once(elements)
    try:
        for values in HALVES:
            for repeats in (1, 400, 40_000):
                for text in ("x.sum()", "x.reshape(2, -1).sum(axis=1)", "np.add.reduce(x)"):
                    told = []
                    for xp in (np, nb):
                        x = xp.array(np.tile(values, 2 * repeats).astype("f2"))
                        told.append({w[1] for w in given(eval, text, {"np": xp, "x": x})})
                    assert told[1] == told[0], (values, repeats, text)
    finally:
        nb._core.set_at_once(before)


@pytest.mark.cpu
@pytest.mark.parametrize("text", [text.strip() for text in OTHERWISE if text.strip()])
def test_functions_that_compute_otherwise(text):
    """Of few elements at rest NumPy says what there is to say, whether they are done at once."""
    for dtype, large in (("f8", 1e300), ("f4", 1e38), ("f2", 6e4)):
        for special in (1.0, large, -large, np.inf, np.nan):
            told = []
            for xp in (np, nb):
                x, y = np.arange(1.0, 9.0), np.full(8, 2.5)
                x[3] = y[5] = special
                names = {"np": xp, "x": xp.array(x.astype(dtype)), "y": xp.array(y.astype(dtype))}
                told.append({w[1] for w in given(eval, text, names)})
            assert told[1] == told[0], (dtype, special)


@pytest.mark.cpu
@pytest.mark.parametrize("at", ["0", ":", "1:", "...", "[0, 1]", "m", "()"])
def test_complex_scalars_that_are_stored(at):
    """Of NumPy's types; Python's complex numbers are a TypeError in both."""
    for number in (np.complex128(2j), np.complex64(1), nb.asarray([1 + 2j])[0]):
        for dtype in (float, np.float32, int):
            told = []
            for numpy in (np, nb):
                z = numpy.zeros(3, dtype)
                names = {"z": z, "number": number, "m": numpy.asarray([True, False, True])}
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    if at == "()":
                        z.fill(number)
                    else:
                        exec(f"z[{at}] = number", names)
                told.append([(w.category, str(w.message)) for w in found])
            assert told[0] == told[1] and len(told[0]) == 1


@pytest.mark.parametrize("n", [9, 5000])
@pytest.mark.parametrize("call", ["reduce(x)", "reduce(x, keepdims=True)", "reduceat(x, [0])"])
def test_reductions_that_are_folds_of_segments(n, call):
    """A reduction is told of as such, whatever it is made of."""
    told = []
    for library in (np, nb):
        x = np.full(n, 3.0)
        x[:3] = np.inf, -np.inf, np.nan
        x = library.asarray(x)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            np.asarray(eval(f"library.logaddexp.{call}"))
        told.append([str(w.message) for w in found])
    assert told[0] == told[1]

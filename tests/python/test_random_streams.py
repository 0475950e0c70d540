"""Random numbers of NumPy's streams drawn on a device apart: NumPy's bits and its state.

On a GPU where one is the device, else on the fenced device, whose kernels are the GPU's.
"""

import subprocess
import sys

import numbus as nb
import numpy as np
import pytest
from conftest import DEVICE
from numbus import random as nb_random

pytestmark = pytest.mark.numbus

GENERATORS = ["PCG64", "Philox"]
FIRST = [(), (1, "float64"), (3, "float32"), (1, "float32"), (2, "float64"), (4, "float32")]
SIZES = [0, 1, 2, 10, 1000, 4099]
LARGE = 100_007
INTEGERS = [
    ("int64", 0, 10),
    ("int64", -5, 1 << 40),
    ("int64", -(1 << 63), 1 << 63),
    ("int64", 0, 1 << 32),
    ("int64", 3, (1 << 31) + 4),
    ("uint64", 0, (1 << 63) + 1),
    ("uint64", 0, 1 << 64),
    ("int32", -3, 7),
    ("uint32", 0, 1 << 32),
    ("uint32", 0, 3 << 30),
    ("int16", -100, 20_001),
    ("uint16", 0, 1 << 16),
    ("int8", -128, 128),
    ("uint8", 0, 200),
    ("uint8", 3, 103),
    ("bool", 0, 2),
]
# Name, arguments before the size, arguments after it.
CALLS = [
    ("random", (), ()),
    ("random", (), ("float32",)),
    ("uniform", (-1.5, 7.25), ()),
    *[("integers", (low, high), (dtype,)) for dtype, low, high in INTEGERS],
    ("standard_normal", (), ()),
    ("standard_normal", (), ("float32",)),
    ("normal", (3.5, 2.25), ()),
    ("standard_exponential", (), ()),
    ("standard_exponential", (), ("float32",)),
    ("exponential", (2.5,), ()),
]


@pytest.fixture(autouse=True)
def apart(core, monkeypatch):
    monkeypatch.setenv("NUMBUS_FIBERS", "1")
    monkeypatch.setattr(nb_random, "_ON_DEVICE", 1)
    before = core.set_device("fenced" if DEVICE == "cpu" else DEVICE)
    yield
    core.set_device(before)


def pair(name, *seed):
    """NumPy's generator, and ours, of one seed."""
    return [m.Generator(getattr(m, name)(*seed)) for m in (np.random, nb_random)]


def same(want, got, call, size):
    """The same call on both; tails may differ by a unit in the last place."""
    name, before, after = call
    x, y = [getattr(g, name)(*before, size, *after) for g in (want, got)]
    assert isinstance(y, nb.ndarray) and y.dtype == x.dtype and y.shape == x.shape
    y = np.asarray(y)
    ours = np.flatnonzero(x != y)
    if len(ours):
        assert name in ("standard_normal", "normal", "standard_exponential", "exponential")
        assert len(ours) <= 2 + x.size / 4000
        assert (np.abs(x - y) <= 2 * np.spacing(np.abs(x))).all()
    assert str(got.bit_generator.state) == str(want.bit_generator.state)


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("name", GENERATORS)
def test_same_numbers(name, call):
    for k, size in enumerate(SIZES):
        want, got = pair(name, 7)
        first = FIRST[k % len(FIRST)]
        if first:
            want.random(*first), got.random(*first)
        same(want, got, call, size)
        same(want, got, call, (3, 5))
        assert got.random() == want.random()


@pytest.mark.parametrize("name", GENERATORS)
def test_on_the_host(core, name):
    core.set_device("cpu")
    for call in CALLS:
        want, got = pair(name, 7)
        for size in (0, 1, 10, (3, 5), 20_001):
            same(want, got, call, size)


@pytest.mark.cpu
@pytest.mark.parametrize("name", GENERATORS)
def test_where_the_device_is_chosen(core, by_cost, name):
    """Few numbers are drawn on the host, many apart."""
    by_cost(1024)
    before = core.answer_few(False)
    try:
        for call in CALLS:
            want, got = pair(name, 7)
            for size in (3, 5000, 20):
                same(want, got, call, size)
        assert got.standard_normal(5000).device == "fenced"
    finally:
        core.answer_few(before)


DENSE = """
import math, sys
import numpy as np
from numbus import _core, random
from numbus.core import streams
from numbus.kernels import _ziggurat

streams._UNITS["normal"] = 3  # for a number
limits, widths, heights = _ziggurat.tables("normal", "float64")
limits = (limits * np.where(np.arange(256) == 0, {tail}, {others})).astype(np.uint64)
_ziggurat.tables = lambda kind, dtype: (limits, widths, heights)
_core.set_device({device!r})
random._ON_DEVICE = 1
n = 12_000
bits = random.PCG64(9)
got = np.asarray(random.Generator(bits).standard_normal(n))
stream = random.PCG64(9)
units = stream.random_raw(4 * n).tolist()
unit = [(u >> 11) * 2.0**-53 for u in units]
p = 0
for i in range(n):
    while True:
        k, integer, sign = units[p] & 255, units[p] >> 9 & (1 << 52) - 1, units[p] >> 8 & 1
        x = integer * widths[k]
        first, p = p, p + 1
        if integer < limits[k]:
            break
        if k == 0:
            accepted = False
            while not accepted:
                x = -math.log1p(-unit[p]) / 3.6541528853610088
                accepted = -2 * math.log1p(-unit[p + 1]) > x * x
                p += 2
            x, sign = 3.6541528853610088 + x, integer >> 8 & 1
            break
        p += 1
        height = (heights[k - 1] - heights[k]) * unit[first + 1] + heights[k]
        if height < math.exp(-0.5 * x * x):
            break
    assert abs(got[i]) == abs(x) or abs(abs(got[i]) - x) < 1e-15, (i, got[i], x)
    assert np.signbit(got[i]) == bool(sign)
ahead = random.PCG64(9)
assert bits.state == ahead.advance(p).state and p > 1.1 * n, p
"""


@pytest.mark.parametrize("tail, others", [(0.9, 0.5), (0.0, 0.9), (0.3, 0.2)])
def test_numbers_of_many_units(tail, others):
    """With limits so low that most numbers take several units, as NumPy's one of 80 does.

    In a process of its own, as kernels are kept; the loop is the ziggurat's definition.
    """
    device = "fenced" if DEVICE == "cpu" else DEVICE
    code = DENSE.format(tail=tail, others=others, device=device)
    subprocess.run([sys.executable, "-c", code], check=True)


DOUBTS = """
import numpy as np
from numbus import _core, random
from numbus.primitives import samples

samples.NEARLY = samples.NEARLY_SINGLE = 5e-5
samples.NEARLY_SQUARE = samples.NEARLY_SQUARE_SINGLE = 0.3
_core.set_device({device!r})
random._ON_DEVICE = 1
calls, drawn = 0, _core.sample

def counting(*given):
    global calls
    calls += 1
    return drawn(*given)

_core.sample = counting
decided = 0
for seed in range(24):
    want = np.random.Generator(np.random.{name}(seed))
    got = random.Generator(random.{name}(seed))
    want.random(1, "float32"), got.random(1, "float32")
    x, calls = want.{call}(3000, dtype="{dtype}"), 0
    made = random._{kind}(got.bit_generator, 3000, "{dtype}")
    if made is not None:
        decided += calls == 2
        assert np.isclose(x, np.asarray(made), 1e-6, 0).all()
        assert str(want.bit_generator.state) == str(got.bit_generator.state)
assert decided > 4, decided
"""


@pytest.mark.parametrize(
    "name, kind, dtype",
    [
        ("PCG64", "normal", "float64"),
        ("PCG64", "normal", "float32"),
        ("PCG64", "exponential", "float64"),
        ("Philox", "exponential", "float32"),
        ("Philox", "normal", "float32"),
    ],
)
def test_what_is_uncertain_is_decided_by_numpy(name, kind, dtype):
    """With so wide margins that some calls have one uncertain number, others several."""
    device = "fenced" if DEVICE == "cpu" else DEVICE
    given = {"name": name, "kind": kind, "dtype": dtype, "device": device}
    code = DOUBTS.format(call=f"standard_{kind}", **given)
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_many_numbers(call):
    want, got = pair("PCG64", 5)
    same(want, got, call, LARGE)


@pytest.mark.parametrize("name", GENERATORS)
def test_mixed_calls(name):
    """One generator, one call after the other, some of them on the host."""
    choose = np.random.default_rng(3)
    for seed in range(4):
        want, got = pair(name, seed)
        for _ in range(30):
            call = CALLS[choose.integers(len(CALLS))]
            same(want, got, call, int(choose.choice([1, 2, 3, 7, 64, 500])))
            if choose.random() < 0.3:
                np.testing.assert_array_equal(np.asarray(got.poisson(3.0, 5)), want.poisson(3.0, 5))
            if choose.random() < 0.3:
                np.testing.assert_array_equal(got.random(3, "float32"), want.random(3, "float32"))


@pytest.mark.parametrize("state", [(1 << 128) - 1, 0, 12345 << 100])
@pytest.mark.parametrize("increment", [1, (1 << 128) - 1, 3 << 64 | 1])
def test_any_state(state, increment):
    want, got = pair("PCG64", 0)
    for g in (want, got):
        given = g.bit_generator.state
        given["state"] = {"state": state, "inc": increment}
        given["has_uint32"], given["uinteger"] = 1, 0xDEADBEEF
        g.bit_generator.state = given
    for call in CALLS:
        same(want, got, call, 3000)


@pytest.mark.parametrize("counter", [(1 << 64) - 2, (1 << 256) - 3])
def test_any_counter(counter):
    want, got = pair("Philox", None, counter, 99)
    for call in CALLS:
        same(want, got, call, 700)


@pytest.mark.parametrize(
    "call, seeds",
    [
        # Of normal numbers those of which the tail took two to four tries are among them.
        (("standard_normal", (), ()), [1379, 2343, 4736, 4602, 5966, 5948]),
        (("standard_normal", (), ("float32",)), [3843, 3327, 2762, 324, 5815, 627]),
        (("standard_exponential", (), ()), [4339, 2724, 2512, 2509]),
        (("standard_exponential", (), ("float32",)), [940, 4811, 3122, 2951]),
    ],
    ids=str,
)
def test_tails(call, seeds):
    for seed in seeds:
        want, got = pair("PCG64", seed)
        same(want, got, call, 800)
        assert np.abs(want.standard_normal()) == np.abs(got.standard_normal())


def test_what_is_doubtful_is_drawn_on_the_host(core, monkeypatch):
    drawn = core.sample
    for report in ([0, 0], [40, -1]):

        def doubtful(*given, report=report):
            return drawn(*given)[0], nb.array(np.array(report))

        monkeypatch.setattr(core, "sample", doubtful)
        for call in CALLS:
            want, got = pair("PCG64", 3)
            name, before, after = call
            x, y = [getattr(g, name)(*before, 30, *after) for g in (want, got)]
            np.testing.assert_array_equal(np.asarray(y), x)
            assert str(got.bit_generator.state) == str(want.bit_generator.state)


def test_a_block_that_is_not_the_streams(core):
    """Users may have set any state; NumPy goes on with what it has."""
    want, got = pair("Philox", 3)
    for g in (want, got):
        g.random(2)
        given = g.bit_generator.state
        given["buffer"] = np.arange(4, dtype=np.uint64) << np.uint64(40)
        g.bit_generator.state = given
    for call in CALLS:
        same(want, got, call, 100)


@pytest.mark.parametrize(
    "call",
    [
        ("integers", (5, 5), ()),
        ("integers", (0, 300), ("int8",)),
        ("integers", (-1, 5), ("uint16",)),
        ("integers", (0, 5), ("float64",)),
        ("integers", (0, 5), (None,)),
        ("integers", (0, 5), ("nonsense",)),
        ("integers", (0.5, 5), ()),
        ("integers", (0, 5), (">i4",)),
        ("integers", (np.int8(0), np.uint8(5)), ("int64", True)),
        ("integers", ([1, 2, 3], 9), ()),
        ("integers", (4, 5), ()),
        ("uniform", (3, 1), ()),
        ("uniform", (-1e308, 1e308), ()),
        ("uniform", (0, float("inf")), ()),
        ("uniform", ([1, 2, 3], 9), ()),
        ("normal", (0, -1), ()),
        ("normal", (0, float("nan")), ()),
        ("normal", (float("inf"), 1), ()),
        ("normal", ([1, 2, 3], 9), ()),
        ("normal", (1, 0), ()),
        ("exponential", (-1,), ()),
        ("exponential", (1e308,), ()),
        ("standard_normal", (), ("float16",)),
        ("standard_normal", (), (None,)),
        ("standard_exponential", (), ("float64", "inv")),
        ("standard_exponential", (), ("float64", "other")),
        ("standard_exponential", (), ("int32",)),
    ],
    ids=str,
)
def test_what_is_numpys(call):
    """Other arguments: NumPy's numbers, warnings and errors."""
    name, before, after = call

    def drawn(g):
        try:
            return np.asarray(getattr(g, name)(*before, (50, 3), *after))
        except (TypeError, ValueError, OverflowError) as e:
            return type(e)

    want, got = pair("PCG64", 3)
    x, y = drawn(want), drawn(got)
    if isinstance(x, type):
        assert y is x
    else:
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(y, x)
    assert str(got.bit_generator.state) == str(want.bit_generator.state)


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_out(name, dtype):
    """Arrays of the device are filled; what NumPy refuses is refused, and nothing is drawn."""
    for given, size in [
        ((40, 30), None),
        ((40, 30), (40, 30)),
        ((40, 30), (30, 40)),
        ((40,), 40),
        ((0,), None),
    ]:
        for kind in ("float64", "float32", "int32"):
            want, got = pair("PCG64", 3)
            results = []
            for g, m in ((want, np), (got, nb)):
                out = m.zeros(given, kind)
                try:
                    assert getattr(g, name)(size, dtype=dtype, out=out) is out
                    results.append(np.asarray(out))
                except (TypeError, ValueError) as e:
                    results.append(type(e))
            if isinstance(results[0], type):
                assert results[1] is results[0]
            else:
                np.testing.assert_allclose(
                    results[1], results[0], 1e-6 if kind == "float32" else 1e-15
                )
            assert str(got.bit_generator.state) == str(want.bit_generator.state)


@pytest.mark.parametrize("name", [*GENERATORS, "MT19937"])
def test_random_state(name):
    want, got = [m.RandomState(getattr(m, name)(7)) for m in (np.random, nb_random)]
    for size in (1, 10, (30, 50)):
        for call, arguments in (("random_sample", ()), ("random", ()), ("uniform", (-2, 3.5))):
            x, y = [getattr(g, call)(*arguments, size) for g in (want, got)]
            assert isinstance(y, nb.ndarray) and y.dtype == x.dtype
            np.testing.assert_array_equal(np.asarray(y), x)
            assert str(got.get_state(legacy=False)) == str(want.get_state(legacy=False))
    assert got.randint(0, 9) == want.randint(0, 9) and got.rand() == want.rand()


@pytest.mark.parametrize("size", [10**13, 10**18, 10**19, 10**30, (10**10, 10**10), (-5, -5)])
@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.cpu
def test_too_many(core, name, device, size):
    core.set_device(device)
    for call, arguments in (("random", ()), ("standard_normal", ()), ("integers", (0, 5))):
        refusals = []
        for g in pair(name, 3):
            with pytest.raises((MemoryError, ValueError)) as refused:
                getattr(g, call)(*arguments, size=size)
            refusals.append((refused.type.__name__, str(refused.value)))
        assert refusals[0] == refusals[1]


def test_numbers_of_numpys(core, monkeypatch):
    """Parameters and sizes may be NumPy's numbers; they are drawn on the device."""
    drawn, counted = core.sample, []
    monkeypatch.setattr(core, "sample", lambda *given: counted.append(1) or drawn(*given))
    for call in [
        ("normal", (np.float64(3), np.float32(0.5)), ()),
        ("exponential", (np.int64(2),), ()),
        ("integers", (np.int8(0), np.uint64(10)), ()),
        ("standard_normal", (), ()),
    ]:
        for size in (np.int64(500), (np.int32(5), 100), [5, 100], 500):
            want, got = pair("PCG64", 3)
            same(want, got, call, size)
    assert len(counted) == 16


@pytest.mark.parametrize("name", ["MT19937", "SFC64", "PCG64DXSM"])
def test_other_generators(name):
    want, got = pair(name, 3)
    for call in CALLS:
        same(want, got, call, 300)


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("sort", "normal", [0] * 10, 5, 9), ValueError),
        (("nothing", "normal", [0] * 10, 5, 9), ValueError),
        (("philox_sample", "normal", [0] * 10, 5, 9), ValueError),
        (("pcg64_sample", "normal", [0] * 10, 0, 9), ValueError),
        (("pcg64_sample", "normal", [0] * 10, 9, 5), ValueError),
    ],
)
def test_wrong_samples(core, arguments, error):
    with pytest.raises(error, match=r"\[sample\]"):
        core.sample(*arguments, np.dtype("float64"))


@pytest.mark.parametrize("legacy", [False, True])
def test_pending_work_begins_before_the_host_draws(monkeypatch, legacy):
    """So that a GPU works while the host draws what no device does; on a CPU both would want it."""
    seen = []
    flush = nb_random._core.flush
    monkeypatch.setattr(
        nb_random._core, "flush", lambda reason: seen.append(nb.stats()["flushes"]) or flush(reason)
    )
    ours, theirs = (
        (nb_random.RandomState(3), np.random.RandomState(3))
        if legacy
        else (nb_random.default_rng(3), np.random.default_rng(3))
    )
    n = nb_random._MANY
    pending = nb.ones(100_000) * 2 + 1
    before = nb.stats()["flushes"]
    found = ours.standard_gamma(2.0, n)
    after = nb.stats()["flushes"]
    apart = nb_random._core.draws_apart(n)  # here, and where the default device is a GPU
    assert seen == [before] * apart
    assert after == before + apart  # and nothing else is carried out for it
    few = ours.standard_gamma(2.0, 10)
    assert len(seen) == apart
    np.testing.assert_array_equal(np.asarray(found), theirs.standard_gamma(2.0, n))
    np.testing.assert_array_equal(np.asarray(few), theirs.standard_gamma(2.0, 10))
    assert float(pending.sum()) == 300_000

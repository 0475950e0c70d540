"""Kernels that a thread compiles while the interpreter runs them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

SEVERAL = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one processor: kernels are compiled at once"
)


@pytest.fixture
def beside(core):
    before = core.set_compile_beside(True)
    yield
    core.wait_for_compiling()
    core.set_compile_beside(before)


def chain(xp, seed, x):
    """A result of some twenty operations that no other test has in this order."""
    rng = np.random.default_rng(seed)
    steps = [
        lambda y: y + x,
        lambda y: y * x,
        lambda y: xp.maximum(y, -x),
        lambda y: xp.cos(y) - x / 3,
        lambda y: xp.log1p(abs(y)),
        lambda y: xp.exp(-y * y),
        lambda y: xp.where(y > x, y, x),
    ]
    y = x
    for k in rng.integers(0, len(steps), 20):
        y = steps[k](y)
    return y


@SEVERAL
@pytest.mark.recorded
@pytest.mark.parametrize("number", range(3))
def test_results_do_not_depend_on_when_the_code_is_ready(xp, core, beside, number):
    # What an earlier run has compiled is on disk.
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    real = np.random.default_rng(seed).random(700_000) + 0.5
    x = xp.array(real)
    interpreted = 0
    for work in (lambda: chain(xp, seed, x), lambda: chain(xp, seed, x).sum()):
        before = core.stats()
        first = np.asarray(work())
        core.wait_for_compiling()
        between = core.stats()
        second = np.asarray(work())
        np.testing.assert_array_equal(first, second)
        assert core.stats()["interpreted"] == between["interpreted"]
        interpreted += between["interpreted"] - before["interpreted"]
    assert interpreted
    np.testing.assert_allclose(np.asarray(chain(xp, seed, x)), chain(np, seed, real), 1e-9, 1e-9)


@SEVERAL
def test_a_child_compiles_for_itself(xp, core, beside):
    x = xp.array(np.random.default_rng(1).random(200_000) + 0.5)
    for seed in range(10, 16):
        chain(xp, seed, x).sum().item()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            results = [float(chain(xp, seed, x).sum()) for seed in (10, 15, 17)]
            core.wait_for_compiling()
            code = results != [float(chain(xp, seed, x).sum()) for seed in (10, 15, 17)]
        finally:
            os._exit(int(code))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.isfinite(float(chain(xp, 15, x).sum()))


def run(code, **environment):
    source = "import numbus as nb\nfrom numbus import _core as core\n" + textwrap.dedent(code)
    environment = {**os.environ, "NUMBUS_CACHE": "0", "NUMBUS_DEVICE": "cpu", **environment}
    made = subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.split()


LARGE = """
    x = nb.arange(200_000.0)
    float((nb.exp(-x) * nb.sin(x) + nb.log1p(x) * nb.tanh(x)).sum())
    print(core.stats()["compiles"], core.stats()["interpreted"] > 0)
"""


def test_a_process_may_end_while_something_is_compiled():
    assert run(LARGE)[0] in ("0", "1")


def test_without_a_thread_the_program_waits():
    assert run(LARGE, NUMBUS_BACKGROUND="0") == ["1", "False"]
    alone = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert run(alone + textwrap.dedent(LARGE)) == ["1", "False"]


@pytest.fixture
def modes(core):
    yield ("auto", "interp", "compiled")
    core.set_mode("auto")


SCANS = ["add", "multiply", "maximum", "minimum", "subtract", "fmax", "logical_or", "bitwise_xor"]
LAYOUTS = [
    (lambda a: a, 1),
    (lambda a: a, 0),
    (lambda a: a.reshape(-1), 0),
    (lambda a: a.T, 0),
    (lambda a: a[::-1, ::-3], 1),
    (lambda a: a.reshape(4, -1, 700), 1),
]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "f8", "c16"]
)
@pytest.mark.parametrize("name", SCANS)
def test_scans_have_the_same_bits_before_they_are_compiled(xp, core, modes, name, dtype):
    rng = np.random.default_rng(SCANS.index(name))
    real = rng.integers(-2, 120, (60, 700)) if dtype != "f8" else rng.standard_normal((60, 700))
    real = real.astype(dtype)
    if real.dtype.kind == "f":
        real[3, 40:42] = np.nan, -0.0
    for cut, axis in LAYOUTS:
        for to in (None, "float64", "int32"):
            try:
                with np.errstate(all="ignore"):
                    want = getattr(np, name).accumulate(cut(real), axis, dtype=to)
            except TypeError:
                continue
            got = []
            for mode in modes:
                core.set_mode(mode)
                with np.errstate(all="ignore"):
                    r = getattr(xp, name).accumulate(cut(xp.array(real)), axis, dtype=to)
                    r = r.to_numpy() if hasattr(r, "to_numpy") else np.array(r)
                    if r.dtype.kind in "fc":
                        r[r != r] = np.nan  # the sign of a NaN is nobody's
                    got.append(r)
            for one in got:
                assert one.dtype == want.dtype
                assert one.tobytes() == got[-1].tobytes()
            if want.dtype.kind in "fc":
                np.testing.assert_allclose(got[0], want, 1e-2 if dtype == "float16" else 1e-5)
            else:
                np.testing.assert_array_equal(got[0], want)

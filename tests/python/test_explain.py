"""nb.explain(): flushes and their reasons, kernels, what was fused, and the Python lines."""

import re
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.numbus


def here():
    """The number of the caller's line."""
    return sys._getframe(1).f_lineno


@pytest.fixture
def x(xp, core):
    a = xp.array(np.linspace(1, 2, 1000))
    core.synchronize()
    return a


@pytest.mark.recorded
def test_pending_array(xp, x):
    line = here() + 1
    b = xp.sqrt(x * 2 + 1)
    total = b.sum()
    text = str(xp.explain(b))
    assert "flush 1 (explain()): 4 operations, 1 kernel, 16.0 kB moved, plan " in text
    assert "kernel 0: shape (1000,), 1000 points, 16.0 kB moved, " in text
    assert re.search(r"fused +multiply add sqrt sum\n", text)
    assert re.search(rf"lines +test_explain\.py:{line}, {line + 1}\n", text)
    assert re.search(r"registers 2 values, 16\.0 kB never stored", text)
    assert repr(xp.explain(b)) == "nothing was pending, and nothing ran\n"
    assert float(total) > 0


@pytest.mark.cpu  # a GPU's flushes differ by their copies
def test_every_flush_inside_a_function(xp, x):
    def body(n):
        total = 0.0
        for k in range(n):
            total += float((x * k).sum())
        return xp.arange(n) + 1

    text = str(xp.explain(body, 5))
    assert re.search(r"flush 1 to 5 \(value read\): 2 operations, 1 kernel, 8\.0 kB moved", text)
    assert re.search(r"flush 6 \(the function has returned\): 2 operations, 1 kernel", text)
    assert re.search(r"fused +arange add\n", text)
    assert "in all: 6 flushes, 6 kernels" in text


def test_many_flushes_are_bounded(xp, x):
    def body():
        for k in range(1000):
            float((x[: 10 + k] * 2).sum())

    text = str(xp.explain(body))
    assert "(flushes not shown: 800)" in text and "in all: 1000 flushes, 1000 kernels" in text


def test_work_before_is_not_shown(xp, x):
    y = x + 1
    text = str(xp.explain(lambda: x * 2))
    assert "multiply" in text and "add" not in text
    assert float(y[0]) == 2


def test_ir(xp, x):
    assert "float64 = multiply" not in str(xp.explain(lambda: x * 2))
    assert re.search(r"    \| +%\d+: float64 = multiply", str(xp.explain(lambda: x * 2, ir=True)))


def test_masks_loops_and_reductions(xp, core):
    c0 = xp.array(np.linspace(0, 1.5, 4096))

    def body():
        c = c0.copy()
        for _ in range(20):
            m = c < 2
            c[m] = c[m] ** 2 + c0[m]
        return c

    text = str(xp.explain(body))
    assert re.search(r"loop +\d+ iterations of this body", text)
    assert "square[mask]" in text and text.count("square[mask]") <= 3


def test_how_it_ran(xp, core, mode):
    a = xp.ones(100)
    says = "interpreted" if mode == "interp" else "compiled"
    assert re.search(rf"moved, {says}", str(xp.explain(lambda: a * 3 + 1)))


def test_library_call_and_temporary(xp):
    def body():
        a = xp.ones((8, 8))
        return (a @ a) + 1

    text = str(xp.explain(body))
    assert re.search(r"library call\n +operation matmul\n", text)
    assert re.search(r"memory +1 temporary value, 512 B", text)


def test_fallbacks_and_reasons(xp, core, x):
    text = str(xp.explain(lambda: (core.count_fallback("numpy.odd"), np.asarray(x * 2))))
    assert "(exported as a buffer)" in text or "copied from the device" in text
    assert "left for NumPy: numpy.odd\n" in text
    seen = str(xp.explain(lambda: xp.synchronize() or [x + 1, xp.synchronize()]))
    assert "(synchronize())" in seen


def test_null_device(xp):
    with xp.device("null"):
        text = str(xp.explain(lambda: xp.array(np.ones(1000)) * 2 + 1))
    assert "counted only" in text and "copied to the device: 8.0 kB" in text


def test_an_error_ends_it(xp, core, x):
    with pytest.raises(ZeroDivisionError):
        xp.explain(lambda: 1 / 0)
    assert core.explain_end() == ""


def test_failed_kernel(xp, x):
    def body():
        i = xp.array([3, 4]) * 300
        y = x[i] * 2
        try:
            float(y[0])
        except IndexError:
            pass

    assert re.search(r"moved, failed\n +fused +multiply gather multiply", str(xp.explain(body)))


def test_neither_function_nor_array(xp):
    with pytest.raises(TypeError, match=r"\[explain\] nothing to run; got str; expected a func"):
        xp.explain("wave")


def test_windows_in_ssa_form(xp):
    """A write names the version that it changes, a read the version that it sees."""
    x = xp.ones((4, 6))
    float(x[0, 0])

    def work():
        y = x * 2
        y[1:3] = y[:2] + 1
        y[y > 2] -= 1
        return float(y.sum())

    text = str(xp.explain(work, ir=True))
    lines = re.findall(r"^  (b\d+%\d+:.* = .*)$", text, re.M)
    assert lines[0] == "b1%0:float64[4, 6] = multiply in float64 b0:float64[4, 6], 2"
    versions = set()
    for line in lines:
        left, right = line.split(" = ")
        for slot, version in re.findall(r"(b\d+)(%\d+)?", right + left.partition(" of ")[2]):
            assert not version or slot + version in versions, line
        versions.add(left.partition(":")[0])
    assert any(re.match(r"b1%\d+:float64\[2, 6\]\+48 of b1%0 = ", line) for line in lines), text

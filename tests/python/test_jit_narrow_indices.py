"""Indices and divisors that are constants of narrow signed types, or computed in them."""

import itertools
import linecache

import numpy as np
import pytest
from numbus import njit

NARROW = ["int8", "int16", "int32", "int64"]
BODIES = {
    "element": "return a[v]",
    "slice": "return a[v:].sum()",
    "stop": "return a[:v].sum()",
    "branch": "w = v\n    if n > 0:\n        w = {kind}(1)\n    return a[w], a[w:].sum(), w < 0",
    "sum": "return a[{kind}(v + {kind}(1))]",
    "product": "return a[{kind}(n) * v]",
    "quotient": "return (np.arange(-300, 300).astype('{kind}') // v).sum(), n // v",
    "remainder": "return (np.arange(-300, 300).astype('{kind}') % v).sum(), n % v",
    "shift": "return a[v >> {kind}(1)]",
    "store": "a[v] = 7.0\n    return a.sum()",
    "loop": "s = 0.0\n    for i in range(3):\n        s += a[v + {kind}(i)]\n    return s",
}


def compiled_and_not(text, *values):
    space, name = {"np": np}, f"<{hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    results = []
    for call in (space["f"], njit(space["f"])):
        try:
            results.append(call(*[v.copy() if isinstance(v, np.ndarray) else v for v in values]))
        except IndexError:
            results.append(IndexError)
    return results


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", NARROW)
def test_constants(kind, body):
    for number, n in itertools.product((-1, -128, 3, -2.5), (0, 1)):
        text = f"def f(a, n):\n    v = np.{kind}({number})\n    " + BODIES[body].format(
            kind=f"np.{kind}"
        )
        text = text.replace(f"'np.{kind}'", f"'{kind}'")
        want, got = compiled_and_not(text, np.arange(5.0) + 1, n)
        assert got == want, f"{text}: {got} for {want}"


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("kind", NARROW[:3])
def test_sums_that_run_over(kind):
    """An index that a sum or a conversion made negative counts from the end, as in NumPy."""
    most = np.iinfo(kind).max
    text = (
        f"def f(a, x):\n    v = np.{kind}({most})\n"
        f"    return a[v + v], a[v + v :].sum(), a[np.int64(x).astype(np.{kind})]"
    )
    want, got = compiled_and_not(text, np.arange(5.0), 2 ** (8 * np.dtype(kind).itemsize) - 3)
    assert got == want


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32"])
def test_conversions_of_unsigned_numbers(kind):
    signed = kind[1:]
    text = (
        f"def f(a, x):\n    v = np.{kind}(x)\n"
        f"    return a[v.astype(np.{signed})], a[v.astype(np.{signed}) :].sum()"
    )
    want, got = compiled_and_not(text, np.arange(5.0), int(np.iinfo(kind).max) - 1)
    assert got == want


@pytest.mark.parametrize("number", [0, 2, 2**63 - 1, 2**63, 2**64 - 2])
def test_bounds_of_64_bits_without_sign(number):
    text = (
        "def f(a, n):\n    a[:n] += 1.0\n"
        "    return a[n:].sum(), a[:n].sum(), a[n::-1].sum(), a[1:n:2].sum()"
    )
    for n in (number, np.uint64(number)):
        want, got = compiled_and_not(text, np.arange(5.0), n)
        assert got == want


FAR = [2**63 - 1, 2**63 - 2, 2**62, 3, 1, -1, -(2**62), -(2**63) + 1, -(2**63)]
ENDS = [0, 10, -(2**63), 2**63 - 1, 2**63 - 3, 9]


@pytest.mark.parametrize("step", FAR)
@pytest.mark.parametrize("constant", [False, True])
def test_steps_near_the_end_of_64_bits(step, constant):
    """A slice is NumPy's; a loop is CPython's, or says that it is not yet possible."""
    text = (
        "def f(a, i, j, k):\n    count = last = 0\n    for x in range(i, j, K):\n"
        "        count += 1\n        last = x\n        if count > 20:\n            break\n"
        "    return a[i:j:K].sum(), len(a[i:j:K]), count, last"
    ).replace("K", f"({step})" if constant else "k")
    slices = text[: text.index("    count")] + text[text.index("    return") :].split(", count")[0]
    for i, j in itertools.product(ENDS, ENDS):
        want, got = compiled_and_not(slices, np.arange(1, 11), i, j, step)
        assert got == want, (i, j)
        try:
            want, got = compiled_and_not(text, np.arange(1, 11), i, j, step)
        except OverflowError as error:
            last = range(i, j, step)[-1]
            assert "not yet" in str(error)
            assert not -(2**63) <= last + step < 2**63 or abs(j - i) >= 2**63
            continue
        assert got == want, (i, j)


@pytest.mark.parametrize("least", [1, 8])
def test_loops_up_to_a_constant_near_the_end(least):
    """A loop that is left before its numbers leave 64 bits does what CPython's does."""
    end = 2**63 - 1
    text = (
        f"def f(n):\n    count = 0\n    for i in range({end - 20}, {end}, {least}):\n"
        "        count += 1\n        if count == n:\n            break\n"
        "    else:\n        count += 100\n    return count, i"
    )
    want, got = compiled_and_not(text, 2)
    assert got == want
    if least == 1:
        want, got = compiled_and_not(text, 50)
        assert got == want
    else:
        with pytest.raises(OverflowError, match="not yet"):
            compiled_and_not(text, 50)


CLIP_LIMITS = [-1, -300, 0, 2, 300, 2**40, -2.5, np.int16(-1), np.float32(1.5), np.complex64(1j)]


@njit
def clipped(a, low, high):
    return np.clip(a, low, high)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "c8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_limits_of_clip(kind):
    """All three operands have one type, in which an int beyond its end limits nothing."""
    a = np.array([0, 1, 3, 100]).astype(kind)
    for low, high in itertools.product(CLIP_LIMITS, CLIP_LIMITS):
        results = []
        for call in (np.clip, clipped):
            try:
                results.append(call(a, low, high))
            except (OverflowError, TypeError) as error:
                results.append(type(error))
        want, got = results
        if isinstance(want, type):
            assert got is want, (low, high)
        else:
            assert got.dtype == want.dtype and np.array_equal(got, want), (low, high)

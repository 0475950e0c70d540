"""Random numbers of Philox by the routine: NumPy's bits and NumPy's state after them."""

import numbus as nb
import numpy as np
import pytest
from numbus import random as nb_random

pytestmark = pytest.mark.numbus

FIRST = [(), (1, "float64"), (3, "float32"), (1, "float32"), (2, "float64"), (4, "float32")]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("counter", [0, 2**64 - 2, 2**256 - 3])
@pytest.mark.parametrize("first", FIRST, ids=str)
def test_uniform(dtype, counter, first):
    """Whatever was drawn before, and of any count: the numbers and the state are NumPy's."""
    for n in range(20_000, 20_009):
        want = np.random.Generator(np.random.Philox(key=5, counter=counter))
        got = nb_random.Generator(nb_random.Philox(key=5, counter=counter))
        if first:
            want.random(*first), got.random(*first)
        x, y = want.random(n, dtype), got.random(n, dtype)
        assert isinstance(y, nb.ndarray) and y.dtype == dtype
        np.testing.assert_array_equal(np.asarray(y), x)
        assert str(got.bit_generator.state) == str(want.bit_generator.state)
        for more in ("float32", "float64", "float32"):
            np.testing.assert_array_equal(np.asarray(got.random(5, more)), want.random(5, more))


@pytest.mark.parametrize("size", [30_000, (30_000,), (100, 3, 70), (0, 30_000), (-1, -30_000)])
@pytest.mark.parametrize("dtype", ["float64", np.float32, "int32", "float16", "nonsense"])
def test_size_and_dtype(size, dtype):
    def drawn(module):
        try:
            return np.asarray(module.Generator(module.Philox(3)).random(size, dtype))
        except (TypeError, ValueError) as e:
            return type(e)

    want, got = drawn(np.random), drawn(nb_random)
    if isinstance(want, type):
        assert got is want
    else:
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_out():
    want, got = np.zeros(30_000), np.zeros(30_000)
    np.random.Generator(np.random.Philox(3)).random(out=want)
    nb_random.Generator(nb_random.Philox(3)).random(out=got)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("philox", [1, 2], 5, "float32"), ValueError),
        (("normal", [1, 2, 3], 5, "float32"), ValueError),
        (("normal", [1, 2], 5, "uint64"), TypeError),
        (("philox", [0] * 6, 5, "float16"), TypeError),
        (("philox", [0] * 6, -1, "float64"), ValueError),
        (("sort", [0] * 6, 1, "float64"), ValueError),
        (("nothing", [0] * 6, 1, "float64"), ValueError),
    ],
)
def test_wrong_draws(arguments, error):
    *given, dtype = arguments
    with pytest.raises(error, match=r"\[draw\]"):
        nb._core.draw(*given, np.dtype(dtype))


@pytest.mark.parametrize(
    "kind, vectors", [("float64", "v2.f64"), ("float32", "v4.f32"), ("uint64", "v2.")]
)
def test_numbers_of_a_counter_are_stored_as_vectors(kind, vectors):
    """On a GPU, where single numbers of each thread would be parts of sectors."""
    from numbus import _core
    from numbus.primitives import _device, random

    kernel = _core.Kernel(
        lambda: _device.program.anew(random.make_philox(kind)), dict(_device._OPTIONS), "philox"
    )
    types = [_device.array(kind, aligned=True), _device.INT, _device.array("uint64")]
    assert kernel.ptx(types, 90, 80, True).count(f"st.global.{vectors}") == 2

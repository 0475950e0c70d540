"""numbus.fft against NumPy's: every function, dtypes, shapes, padding, norms, errors.

Where the device is the CPU, the code for GPUs runs, too, with NumPy in cuFFT's place.
"""

import numpy as np
import pytest
from conftest import DEVICE, MODULE
from helpers import assert_same, draw
from stand_ins import Transforms
from test_libraries import run

ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL_AXES = ["fftn", "ifftn", "rfftn", "irfftn"]
TWO_AXES = ["fft2", "ifft2", "rfft2", "irfft2"]
REAL_IN = {"rfft", "ihfft", "rfftn", "rfft2"}
DTYPES = "bool int16 uint8 int64 float16 float32 float64 complex64 complex128".split()


@pytest.fixture(params=["library", "stand-in"])
def fft(request, xp, monkeypatch):
    """The module under test."""
    if request.param == "stand-in":
        if MODULE != "numbus" or DEVICE != "cpu":
            pytest.skip("the real thing is tested")
        monkeypatch.setattr(xp.fft, "runs_on_host", lambda a: False)
        monkeypatch.setattr(xp.fft, "_core", Transforms(xp.fft._core))
    return xp.fft


def tolerance(dtype):
    return 2e-6 if np.dtype(dtype).char in "efF" else 1e-14


def data(name, shape, dtype):
    """Real numbers for functions that take no others."""
    dtype = np.dtype(dtype)
    return draw(shape, dtype.char.lower() if name in REAL_IN and dtype.kind == "c" else dtype)


def compare(fft, xp, name, x, *args, view=lambda x: x, **kwargs):
    want = getattr(np.fft, name)(view(x), *args, **kwargs)
    got = getattr(fft, name)(view(xp.array(x)), *args, **kwargs)
    bits = tolerance(x.dtype) * (1 + np.log2(max(want.size, 2)))
    if x.dtype == np.float16:  # NumPy rounds the factor of its inverses to it
        bits = 1e-3
    assert_same(got, want, bits, f"{name}{x.shape} {x.dtype} {args} {kwargs}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE_AXIS)
def test_dtypes(fft, xp, name, dtype):
    compare(fft, xp, name, data(name, (3, 8), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SEVERAL_AXES + TWO_AXES)
def test_dtypes_of_several_axes(fft, xp, name, dtype):
    compare(fft, xp, name, data(name, (4, 6), dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 16, 97, 100, 127, 211, 1000, 1024, 1031])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_lengths(fft, xp, name, n, dtype):
    """Odd and even ones, powers of two and primes."""
    if name in ("irfft", "hfft") and n == 1:
        pytest.skip("one point is no half of a spectrum")
    compare(fft, xp, name, data(name, (n,), dtype))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_axes(fft, xp, name, axis):
    compare(fft, xp, name, data(name, (4, 5, 6), "float64"), axis=axis)
    compare(fft, xp, name, data(name, (4, 5, 6), "float32"), axis=axis)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 2, 5, 6, 9, 16])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_padding_and_norms(fft, xp, name, n, norm):
    x = data(name, (2, 7), "float64")
    compare(fft, xp, name, x, n, norm=norm)
    compare(fft, xp, name, x, n=n, axis=0, norm=norm)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(
    "s, axes",
    [
        (None, None),
        (None, (0,)),
        (None, (0, 1)),
        (None, (2, 0)),
        (None, (0, 1, 2, 3)),
        (None, (3, 1, 2, 0)),
        ((4, 6), (1, 3)),
        ((2, 9, 3), (3, 0, 2)),
        ((-1, 8), (-1, 0)),
        ((1, 5), (0, 1)),
        ((5, 2), (0, 1)),
    ],
)
@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_several_axes(fft, xp, name, s, axes, norm):
    x = data(name, (3, 4, 2, 5), "float64")
    if name not in REAL_IN:
        x = x + 1j * x[::-1]
    compare(fft, xp, name, x, s, axes, norm)


@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_repeated_axes(fft, xp, name):
    compare(fft, xp, name, draw((4, 6), "float64"), axes=(1, 0, 1))


@pytest.mark.parametrize("name", TWO_AXES)
def test_two_axes(fft, xp, name):
    x = draw((3, 5, 8), "float32")
    compare(fft, xp, name, x)
    compare(fft, xp, name, x, axes=(2, 0))
    compare(fft, xp, name, x, s=(4, 4), axes=(0, 1))


def test_more_axes_than_a_plan_has(fft, xp):
    x = draw((2, 3, 4, 2, 3), "float64")
    for name in SEVERAL_AXES:
        compare(fft, xp, name, x)


VIEWS = {
    "reversed": lambda x: x[::-1, ::-1],
    "every other": lambda x: x[::2, ::2],
    "transposed": lambda x: x.T,
    "part": lambda x: x[1:6, 1:6],
    "one column": lambda x: x[:, 3:4],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fft2", "rfft2", "irfft2"])
def test_views(fft, xp, name, dtype, view):
    """Also real data that does not begin where a pair would."""
    x = data(name, (9, 11), dtype)
    if view == "one column" and name.startswith("irfft"):
        pytest.skip("one point is no half of a spectrum")
    compare(fft, xp, name, x, view=VIEWS[view])
    if "2" not in name:
        compare(fft, xp, name, x, axis=0, view=VIEWS[view])


def test_broadcast_operand(fft, xp):
    compare(fft, xp, "fft", draw((6,), "complex64"), view=lambda x: x[None] + 0 * x[:, None])
    want = np.fft.rfft(np.broadcast_to(np.arange(6.0), (4, 6)))
    got = fft.rfft(xp.broadcast_to(xp.arange(6.0), (4, 6)))
    assert_same(got, want, 1e-14)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 4), (1, 4), (4, 1)])
def test_nothing_and_one(fft, xp, shape):
    for name in ("fft", "rfft", "irfft", "fftn"):
        if name == "irfft" and shape[-1] == 1:
            continue
        if name == "fftn" and 0 in shape:
            continue
        compare(fft, xp, name, draw(shape, "float64"))


def test_the_operand_stays(fft, xp):
    """Also where nothing has to be done, and under cuFFT's inverse, which destroys its operand."""
    for name in ("fft", "ifft", "irfft", "fftn", "irfftn"):
        for shape in ((3, 8), (8, 1)):
            if name.startswith("irfft") and shape[-1] == 1:
                continue
            real = draw(shape, "complex128")
            x = xp.array(real)
            y = getattr(fft, name)(x)
            again = getattr(fft, name)(x)
            y *= 2
            assert_same(x, real)
            assert_same(again, getattr(np.fft, name)(real), 1e-14)


def test_inside_a_program(fft, xp):
    """Pending work before and after, in place on the operand meanwhile."""
    real = draw((64, 64), "float64")
    x = xp.array(real)
    x += 1
    spectrum = fft.rfft2(x)
    x *= 0
    spectrum *= 2
    back = fft.irfft2(spectrum) / 2 - 1
    assert_same(back, real, 1e-13)
    assert_same(x, real * 0)


def test_convolution(fft, xp):
    a, b = draw((300,), "float64", seed=1), draw((50,), "float64", seed=2)
    got = fft.irfft(fft.rfft(xp.array(a), 400) * fft.rfft(xp.array(b), 400), 400)[:349]
    assert_same(got, np.convolve(a, b), 1e-13)


def test_large(fft, xp):
    x = draw((1 << 18,), "float32")
    compare(fft, xp, "fft", x)
    compare(fft, xp, "irfft", x)


def test_many_forms(fft, xp):
    """More than there are plans kept."""
    for repeat in range(2):
        for n in range(2, 80):
            compare(fft, xp, "fft", draw((n,), "complex64", seed=repeat))


def test_out(fft, xp):
    real = draw((4, 8), "complex128")
    for name in ("fft", "irfft", "fftn"):
        want = getattr(np.fft, name)(real)
        out = xp.zeros(want.shape, want.dtype)
        assert getattr(fft, name)(xp.array(real), out=out) is out
        assert_same(out, want, 1e-14)
    out = xp.zeros((4, 8), complex)
    assert fft.fft(xp.array(real), None, -1, "ortho", out) is out
    assert_same(out, np.fft.fft(real, norm="ortho"), 1e-14)
    with pytest.raises(ValueError, match=r"shape|dimension"):
        fft.fft(xp.array(real), out=xp.zeros((4, 7), complex))


@pytest.mark.parametrize("shape", [(7,), (8,), (4, 5), (2, 3, 4)])
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(fft, xp, name, shape):
    x = draw(shape, "int32")
    compare(fft, xp, name, x)
    for axis in (0, -1, (0, -1)):
        compare(fft, xp, name, x, axes=axis)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000])
def test_frequencies(fft, xp, n):
    for name in ("fftfreq", "rfftfreq"):
        for args in ((n,), (n, 0.1)):
            assert_same(getattr(fft, name)(*args), getattr(np.fft, name)(*args))
        assert_same(getattr(fft, name)(n=np.int64(n), d=2), getattr(np.fft, name)(n, 2))


def test_lists(fft, xp):
    assert_same(fft.fft([1, 2, 3]), np.fft.fft([1, 2, 3]), 1e-15)
    assert_same(fft.fftshift([1, 2, 3]), np.fft.fftshift([1, 2, 3]))


def test_all_names(fft):
    assert sorted(fft.__all__) == sorted(np.fft.__all__)
    for name in np.fft.__all__:
        assert callable(getattr(fft, name)) and getattr(fft, name).__doc__


@pytest.mark.parametrize(
    "call, error",
    [
        ("fft(x, norm='none')", ValueError),
        ("fft(x, 0)", ValueError),
        ("fft(x, -3)", ValueError),
        ("fft(x, axis=2)", IndexError),
        ("fft(x, 2.5)", TypeError),
        ("fftn(x, axes=(0, 5))", (IndexError, ValueError)),
        ("fftn(x, (2, 2), (0,))", ValueError),
        ("rfft(x * 1j)", TypeError),
        ("rfftn(x * 1j)", TypeError),
        ("irfft(x[:, :1])", ValueError),
        ("fft(x[:, :0])", ValueError),
        ("fftfreq(2.5)", ValueError),
        ("rfftfreq(2.5)", ValueError),
    ],
)
def test_errors(fft, xp, call, error):
    x = draw((3, 4), "float64")
    with pytest.raises(error):
        eval("np.fft." + call, {"np": np, "x": x})
    with pytest.raises(error):
        eval("fft." + call, {"fft": fft, "x": xp.array(x)})


@pytest.mark.parametrize(
    "call, text",
    [
        ("fft(x, norm='none')", r"\[fft\] unknown norm; got 'none'; expected 'backward', "),
        ("ifft(x, 0)", r"\[ifft\] no points to transform; got 0; expected 1 or more"),
        ("rfft(x * 1j)", r"\[rfft\] complex operand; got complex128; expected real numbers"),
        ("fftn(x, (2, 2), (0,))", r"extents and axes differ in number; got \(2, 1\)"),
    ],
)
@pytest.mark.numbus
def test_messages(xp, monkeypatch, call, text):
    """Those of the code for GPUs; on a CPU NumPy has its own."""
    monkeypatch.setattr(xp.fft, "runs_on_host", lambda a: False)
    with pytest.raises((ValueError, TypeError), match=text):
        eval("xp.fft." + call, {"xp": xp, "x": xp.array(draw((3, 4), "float64"))})


@pytest.mark.numbus
def test_no_fallbacks(xp, core):
    """Library calls all, or code of our own."""
    core.reset_stats()
    x = xp.array(draw((4, 4), "float64"))
    for name in ONE_AXIS + SEVERAL_AXES + TWO_AXES + ["fftshift", "ifftshift"]:
        getattr(xp.fft, name)(x)
    xp.fft.fftfreq(4), xp.fft.rfftfreq(4)
    assert core.stats()["fallbacks"] == 0


@pytest.mark.numbus
@pytest.mark.cpu
def test_what_the_core_transforms(xp, core):
    x = xp.zeros((4, 4), complex)
    with pytest.raises(ValueError, match=r"\[fft\] not a number of axes to transform; got 2; exp"):
        core.fft(x, 2, False, np.dtype(complex), 4)
    with pytest.raises(ValueError, match=r"\[fft\] not a way to scale; got 3; expected 0, 1 or 2"):
        core.fft(x, 1, False, np.dtype(complex), 4, 3)


@pytest.mark.numbus
def test_a_node_of_the_plan():
    """Other devices than a CPU flush nothing for a transform, and scale in the kernel after it."""
    text = run(
        "import numbus as nb\n"
        "from numbus import _core\n"
        "x = nb.zeros((8, 16), 'F')\n"
        "_core.synchronize()\n"
        "_core.reset_stats()\n"
        "y = nb.fft.ifft(nb.fft.fft(x * 2)) + 1\n"
        "print(_core.stats()['flushes'])\n"
        "_core.synchronize()\n"
        "print(_core.stats()['launches'])",
        NUMBUS_DEVICE="null",
    )
    assert text.split() == ["0", "4"]  # a kernel, two transforms, a kernel


@pytest.mark.numbus
def test_another_device_than_that_of_new_arrays(xp):
    with xp.device("null"):
        x, y = xp.ones(5), xp.ones((3, 4))
    for result in (xp.fft.fft(x, 8), xp.fft.rfft(x, 8), xp.fft.irfft(x), xp.fft.fft2(y, (4, 8))):
        assert str(result.device) == "null"
    assert str(xp.ones(3).device) != "null"


@pytest.mark.parametrize("name", ["hfft", "ifft2", "irfft2", "fft2", "irfft", "fftn"])
def test_out_by_position_and_name(fft, xp, name):
    """Also of those of which NumPy leaves `out` as it was."""
    if MODULE != "numbus":
        pytest.skip("NumPy stores nothing")
    x = draw((4, 6), "complex128")
    want = getattr(np.fft, name)(x)
    for by_name in (False, True):
        out = xp.full(want.shape, 7, want.dtype)
        if by_name:
            got = getattr(fft, name)(xp.array(x), out=out)
        else:
            axes = -1 if name in ONE_AXIS else (-2, -1)
            got = getattr(fft, name)(xp.array(x), None, axes, None, out)
        assert got is out
        assert_same(got, want, 1e-14, name)
    with pytest.raises(ValueError, match="out"):
        getattr(fft, name)(xp.array(x), out=xp.full((3, 3), 7, want.dtype))

"""Axes that are known at run time only, shapes that are written as lists, and `out=` of other types
in compiled functions, against NumPy.
"""

import re

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit
from numbus.kernels import CompileError

pytestmark = [pytest.mark.numbus]

REDUCTIONS = "sum prod min max mean var std any all argmin argmax count_nonzero".split()
KEPT = "sum prod min max mean var std any all argmin argmax count_nonzero".split()
REGISTERED = """sort argsort cumsum cumprod nancumsum diff flip take(a,[0],axis=n) nansum nanmean
    nanmax median percentile(a,30,axis=n) ptp average trapezoid
    linalg.norm roll(a,1,axis=n) unwrap repeat(a,2,axis=n) argpartition(a,0,axis=n)
    """.split()


def _call(text):
    return f"np.{text}" if "(" in text else f"np.{text}(a, axis=n)"


def _arrays():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(2, 3, 4))
    yield from (
        x,
        x[0],
        x[0, 0],
        x.T,
        x[::-1, :, ::2],
        x.astype(np.float32),
        np.asfortranarray(x[1]),
    )
    yield rng.integers(0, 9, (3, 5))


def _same(got, want):
    assert type(got) is type(want) or np.ndim(want) == 0
    np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype == np.float32 else 1e-12)
    assert got.dtype == want.dtype and got.shape == want.shape


@pytest.mark.parametrize("call", [*map(_call, REDUCTIONS + REGISTERED)])
def test_axis_of_run_time(call):
    f = function_of(f"return {call}", "a, n") if "return" in call else function_of(call, "a, n")
    compiled = njit(f)
    for a in _arrays():
        for n in range(-a.ndim, a.ndim):
            _same(np.asarray(compiled(a, n)), np.asarray(f(a, n)))
        for n in (a.ndim, -a.ndim - 1):
            with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
                compiled(a, n)


@pytest.mark.parametrize("name", KEPT)
def test_axis_of_run_time_that_is_kept(name):
    f = function_of(f"a.{name}(axis=n, keepdims=True)", "a, n")
    if name == "count_nonzero":
        f = function_of("np.count_nonzero(a, axis=n, keepdims=True)", "a, n")
    compiled = njit(f)
    for a in _arrays():
        for n in range(-a.ndim, a.ndim):
            _same(compiled(a, n), f(a, n))


def test_the_same_bits_as_of_a_known_axis():
    known = [njit(function_of(f"a.sum(axis={k})", "a, n")) for k in range(3)]
    at_run_time = njit(function_of("a.sum(axis=n)", "a, n"))
    rng = np.random.default_rng(2)
    for shape in ((3, 50, 7), (40, 2, 130), (1, 900, 1), (17, 1, 33)):
        for x in (rng.normal(size=shape), rng.normal(size=shape[::-1]).T.astype(np.float32)):
            for k in range(3):
                assert at_run_time(x, k).tobytes() == known[k](x, k).tobytes()


def test_an_axis_that_there_is_not_is_caught():
    @njit
    def f(a, n):
        try:
            return a.sum(axis=n)
        except IndexError:
            return a[0] * 0 - 1

    a = np.ones((2, 3))
    assert f(a, 1).tolist() == [3, 3]
    assert f(a, 2).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    "call",
    """np.transpose(a, (n, 0)) np.swapaxes(a, n, 0) np.moveaxis(a, n, 0) np.sum(a, axis=(n, 0))
    np.sum(a, axis=0, keepdims=n>0) np.median(a, axis=0, keepdims=n>0) np.einsum(a, [0, n])
    np.stack((a, a), n) np.expand_dims(a, n)""".replace(") np", ")\nnp").split("\n"),
)  # fmt: skip
def test_what_is_not_yet_there_names_the_line(call):
    # Of a parameter there is code for each value (test_jit_deciding.py); this number is read.
    text = re.sub(r"\bn\b", "b[0]", call.strip())
    f = function_of(text, "a, b")
    with pytest.raises(CompileError, match="not yet in compiled functions") as found:
        njit(f)(np.ones((2, 3)), np.ones(1, np.int64))
    assert f"return {text}" in str(found.value)


LISTS = """np.zeros([n, 2]) np.ones([2, n], dtype=np.float32) np.full([n], 3.0) np.empty([n, 0])
np.zeros(shape=[n, n]) a.reshape([2, 6]) a.reshape([-1]) np.reshape(a, [6, 2]) a.transpose([1, 0])
np.transpose(a, [1, 0]) np.transpose(a, axes=[1, 0]) np.broadcast_to(a, [2, 3, 4])
np.tile(a, [2, 1])
np.pad(a, [[1, 2], [0, 1]]) np.pad(a, [1, 2]) np.moveaxis(a, [0, 1], [1, 0])
np.roll(a, [1, 2], [0, 1])
np.flip(a, [0, 1]) np.expand_dims(a, [0, 3]) np.einsum(a, [0, 1], [1]) np.einsum(a, [0, 1])
np.einsum(a, [0, 1], a, [2, 1], [0, 2]) np.einsum(a, [Ellipsis, 1], [Ellipsis]) np.resize(a, [2, n])
np.einsum("ij,j", a, [1.0, 2.0, 3.0, 4.0]) np.einsum([1.0, 2.0], [0], [3.0, 4.0], [0])
np.random.random(size=[n, 2]).shape
np.tensordot(a, a, axes=[[0, 1], [0, 1]]) np.rot90(a, 1, [1, 0])
np.einsum("ij->ji", a, order="F") np.einsum("ij->ji", a, order="C") np.indices([2, n])
np.einsum("ij,kj->ik", a, a, optimize=["einsum_path", (0, 1)])"""


@pytest.mark.parametrize(
    "call", LISTS.replace(") np", ")\nnp").replace(") a.", ")\na.").split("\n")
)
def test_lists_as_shapes_and_axes(call):
    f = function_of(call, "a, n")
    a = np.arange(12.0).reshape(3, 4)
    got, want = njit(f)(a, 3), f(a, 3)
    if isinstance(want, np.ndarray):
        assert got.flags.f_contiguous == want.flags.f_contiguous or "order" not in call
    np.testing.assert_array_equal(got, want)


TYPES = "? i1 i4 i8 u8 f2 f4 f8 c8 c16".split()
OUTS = {
    "np.cumsum(a, axis=0, out=o)": 1,
    "np.cumprod(a, axis=1, out=o)": 1,
    "np.cumsum(a, axis=1, dtype=np.float32, out=o)": 1,
    "np.concatenate((a, a), out=o)": 2,
    "np.concatenate((a, b), axis=0, out=o)": 2,
    "np.concatenate((a, b), axis=0, out=o, casting='unsafe')": 2,
}


@pytest.mark.parametrize("call", OUTS)
@pytest.mark.filterwarnings("ignore")
def test_out_of_another_type(call):
    f = function_of(call, "a, b, o")
    compiled = njit(f)
    a, b = np.arange(6).reshape(2, 3), np.arange(6, 12).reshape(2, 3)
    for given in TYPES:
        for into in TYPES:
            if given in ("c8", "c16") and into not in ("?", "c8", "c16"):
                continue  # not yet: the imaginary part is dropped
            if given in ("c8", "c16") and ("unsafe" in call or "float32" in call):
                continue
            x, y = (a + (2**24 if given in ("i8", "f8") else 0)).astype(given), b.astype("f4")
            want, got = np.zeros((2 * OUTS[call], 3), into), np.zeros((2 * OUTS[call], 3), into)
            try:
                f(x, y, want)
            except TypeError:
                with pytest.raises(TypeError):
                    compiled(x, y, got)
            else:
                compiled(x, y, got)
                if np.abs(want).max() < 127 or into not in ("i1", "f2", "u8"):
                    np.testing.assert_array_equal(got, want, f"{given} to {into}")


def test_stack_with_out():
    f = function_of("np.stack((a, a + 1), 1, out=o)", "a, o")
    a, o = np.arange(3) + 2**53, np.zeros((3, 2), np.float32)
    np.testing.assert_array_equal(njit(f)(a, o), f(a, o.copy()))
    with pytest.raises(TypeError):
        njit(f)(a + 0.5, np.zeros((3, 2), int))


SPACES = """np.linspace(a, a+1, 5); np.linspace(0., a, n); np.linspace(a, 2.0, 4, endpoint=False);
    np.linspace(a[0], a, 3, axis=-1); np.linspace(0, 1, 5, dtype=np.float32);
    np.linspace(c, 2*c, 3);
    np.linspace(0, 10, 4, dtype=np.int64); np.linspace(0, 10, 4, dtype=int); np.linspace(f, f+2, 3);
    np.linspace(i, i+5, 3); np.linspace(0, 1j, 3); np.linspace(a, a, 1); np.linspace(a, a, 0);
    np.linspace([0.0, 1.0], [2.0, 5.0], 3); np.linspace(0.0, 1.0, 5); np.logspace(a, a+1, 3);
    np.logspace(0., a, 3, axis=1); np.logspace(0, 2, 3, base=2); np.geomspace(a+1, a+100, 4);
    np.geomspace(1, i+100, 4, axis=-1); np.geomspace(-1.0, -1000.0, 4); np.geomspace(1j, 8j, 4);
    np.geomspace(1, 1000, 4, dtype=np.float32); np.geomspace(f+1, 10, 3);
    np.linspace(0.0, 1.0, n, retstep=True)[0]; np.linspace(a, 1.0, n, retstep=True)[1]"""


@pytest.mark.parametrize("call", [text.strip() for text in SPACES.split(";")])
def test_spaces(call):
    function = function_of(call, "a, f, i, c, n")
    a = np.arange(6.0).reshape(2, 3)
    given = a, a.astype(np.float32), np.arange(3), a + 1j, 5
    got, want = njit(function)(*given), function(*given)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype.char in "fF" else 1e-13)


def test_round_of_what_numpy_refuses():
    for call, a in (("round(a)", [1.0]), ("round(a, 1)", [1.0]), ("a.round(1)", [True])):
        f = function_of(call, "a")
        with pytest.raises(TypeError):
            f(np.array(a))
        with pytest.raises(TypeError):
            njit(f)(np.array(a))


@pytest.mark.parametrize("name", "median nanmedian".split())
@pytest.mark.parametrize("keepdims", [True, False])
def test_lines_along_an_axis_of_run_time(name, keepdims):
    f = function_of(f"np.{name}(a, axis=n, keepdims={keepdims})", "a, n")
    compiled = njit(f)
    for a in _arrays():
        for n in range(-a.ndim, a.ndim):
            _same(np.asarray(compiled(a, n)), np.asarray(f(a, n)))
        with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
            compiled(a, a.ndim)


def test_several_quantiles_along_an_axis_of_run_time():
    f = function_of("np.nanquantile(a, (0.3, 0.5), axis=n, keepdims=True)", "a, n")
    compiled = njit(f)
    for a in list(_arrays())[:3]:
        for n in range(-a.ndim, a.ndim):
            _same(compiled(a, n), f(a, n))

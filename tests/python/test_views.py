"""Views: values, strides, flags and, above all, NumPy's aliasing."""

import numpy as np
import pytest
from helpers import assert_same_array, run_both

VIEWS = [
    "a[1:]", "a[:-1]", "a[::2]", "a[::-1]", "a[1:3, ::2]", "a[:, 1]", "a[1]", "a[-1, ::-1]",
    "a[..., 0]", "a[0, ..., 1]", "a[None]", "a[:, None, :]", "a[xp.newaxis, 1]", "a[2:2]",
    "a[5:1:-1]", "a[-2:, -3:]", "a[...]", "a[()]", "a.T", "a.T[1:]", "a.transpose(2, 0, 1)",
    "a.transpose()", "a.transpose((1, 0, 2))", "a.swapaxes(0, 2)", "a.reshape(6, 20)",
    "a.reshape(-1)", "a.reshape((4, -1))", "a.reshape(2, 2, 5, 6)", "a.ravel()",
    "a[:, ::2].ravel()", "a.T.ravel()", "a.T.reshape(6, 20)", "a[:, :, ::2].reshape(12, 5)",
    "xp.flip(a)", "xp.flip(a, 1)", "xp.flip(a, (0, 2))", "xp.diagonal(a)", "a.diagonal(1, 1, 2)",
    "a[0].diagonal()", "xp.broadcast_to(a, (2, 4, 5, 6))", "xp.broadcast_to(a[:, :1], (4, 5, 6))",
    "a.real", "xp.expand_dims(a, 1)", "a[:1].squeeze()", "xp.squeeze(a[:1], 0)",
    "xp.moveaxis(a, 0, -1)", "xp.rollaxis(a, 2)", "xp.swapaxes(a, 0, 1)", "xp.transpose(a)",
    "xp.reshape(a, (20, 6))", "xp.ravel(a)", "a.flatten()", "xp.atleast_2d(a[0, 0])",
    "xp.fliplr(a)", "xp.flipud(a)", "xp.rot90(a)", "a[1:1, None, ..., ::3]",
]  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_values_and_strides(xp, text):
    x = np.arange(120.0).reshape(4, 5, 6)
    want, got = eval(text, {"a": x, "xp": np}), eval(text, {"a": xp.array(x), "xp": xp})
    assert_same_array(got, want, what=text)
    for flag in ("c_contiguous", "f_contiguous", "writeable"):
        assert getattr(got.flags, flag) == getattr(want.flags, flag), flag
    assert got.size == want.size and got.ndim == want.ndim
    assert got.nbytes == want.nbytes and got.itemsize == want.itemsize
    assert (got.base is None) == (want.base is None) or not want.flags.owndata


@pytest.mark.parametrize("text", VIEWS)
def test_writing_through_the_view(xp, text):
    """What is written into a view is seen in the array exactly where NumPy says so."""
    x = np.arange(120.0).reshape(4, 5, 6)
    a = xp.array(x)
    want, got = eval(text, {"a": x, "xp": np}), eval(text, {"a": a, "xp": xp})
    if not want.flags.writeable:
        with pytest.raises(ValueError):
            got[...] = 1
        return
    want[...] = -1.5
    got[...] = -1.5
    assert_same_array(a, x, what=text)
    want += 2
    got += 2
    assert_same_array(a, x, what=text)
    x *= 3
    a *= 3
    assert_same_array(got, want, what=text)


@pytest.mark.parametrize("body", [
    "b = a[1:]; c = b[::2]; c += 1; d = a[:-1]; d *= 2",
    "b = a; b += 1; c = a.copy(); c -= 5",
    "b = a.reshape(2, -1); a[0] = 7; c = b + 1; b[1] = 0",
    "b = a[::-1]; b[0] = 100; a[0] = 50; b += a",
    "b = a[2:6]; a = a * 2; b -= 1",
    "b = a[2:6]; a *= 2; b -= 1",
    "p = a; q = a + 1; p, q = q, p; p[0] = -1; q[1] = -2",
    "b = a + 0; v = b[1:3]; del b; v += 1",
    "v = (a + 1)[2:5]; w = v * v; v[...] = 0",
    "b = xp.broadcast_to(a, (3, 8)); a[0] = 9; c = b + 1",
    "b = a.T; b += 1",
    "b = a.ravel(); b[0] = 4; c = a[::2].ravel(); c[0] = 8",
    "b = a[None, :]; b[0, 3] = 4; c = b.sum()",
])  # fmt: skip
def test_aliasing(xp, body):
    run_both(xp, body.replace("; ", "\n"), a=np.arange(8.0))


def test_real_and_imag_are_views(xp):
    run_both(
        xp,
        "r = z.real; i = z.imag; r += 1; i *= 2; z[0] = 5 - 3j; z.real = 7\n"
        "z.imag[1:] = 4\nw = r + i",
        z=np.arange(4) + 1j * np.arange(4, 0, -1),
    )


def test_assignment_to_attributes(xp):
    x = np.arange(6.0)
    a = xp.array(x)
    a.shape, x.shape = (2, 3), (2, 3)
    assert_same_array(a, x)


@pytest.mark.numbus
def test_view_keeps_storage_alive(xp):
    v = xp.arange(1000.0)[10:20]
    xp.synchronize()
    assert float(v.sum()) == sum(range(10, 20))


def test_size_zero(xp):
    run_both(
        xp, "b = a[:0]\nc = b + 1\nd = b.sum()\nb += 1\ne = a[3:3].reshape(0, 4)", a=np.ones(5)
    )


@pytest.mark.parametrize("text", [
    "s(a, 3)", "s(a, 3, writeable=True)", "s(b, (2, 2))", "s(b, 2, axis=1)", "s(b.T, 2, 0)[1]",
    "s(b[::-1], (2, 3), axis=(1, 0))", "s(b, (2, 2), axis=(0, 0))", "s(a, 12)", "s(a, 0)",
    "s(a, 13)", "s(b, 2)", "s(b, 2, axis=5)", "s(a, -1)", "s(a * 2, 4).mean(axis=-1)",
    "t(a, (3, 2), (16, 8))", "t(a[2:], (3,), (8,))", "t(a[::-1], (4, 2), (-8, -8))", "t(a)",
    "t(a, (2, 2), (0, 8), writeable=False)", "t(b, strides=(8, 24), shape=(3, 4))",
])  # fmt: skip
def test_stride_tricks(xp, text):
    """Views as NumPy makes them, read-only where its are, and without a fallback."""
    from numbus import _core

    data = {"a": np.arange(12.0), "b": np.arange(12.0).reshape(4, 3)}
    worlds = []
    for module in (np, xp):
        names = {k: module.array(v) for k, v in data.items()}
        tricks = module.lib.stride_tricks
        names |= {"s": tricks.sliding_window_view, "t": tricks.as_strided}
        before = _core.stats()["fallbacks"]
        try:
            worlds.append(eval(text, names))
        except ValueError as error:
            worlds.append(error)
        assert _core.stats()["fallbacks"] == before
    want, got = worlds
    if isinstance(want, ValueError):
        assert isinstance(got, ValueError)
        return
    np.testing.assert_array_equal(np.asarray(got), want)
    if "mean" not in text:
        assert got.strides == want.strides and got.flags.writeable == want.flags.writeable


def test_windows_are_views(xp):
    a = xp.zeros(6)
    w = xp.lib.stride_tricks.sliding_window_view(a, 3, writeable=True)
    w[0, 2] = 5
    assert a.tolist() == [0, 0, 5, 0, 0, 0] and w[2, 0] == 5 and w.base is not None
    with pytest.raises(ValueError, match=r"\[as_strided\] view reaches outside the storage"):
        xp.lib.stride_tricks.as_strided(a, (7,), (8,))
    with pytest.raises(ValueError, match=r"\[as_strided\] lengths differ"):
        xp.lib.stride_tricks.as_strided(a, (2, 2), (8,))
    with pytest.raises(ValueError, match=r"\[sliding_window_view\] window too large; got 7"):
        xp.lib.stride_tricks.sliding_window_view(a, 7)
    foreign = xp.lib.stride_tricks.sliding_window_view(np.array([1, None, 2], object), 2)
    assert foreign.dtype == object

"""Masks: predicates inside, NumPy's values outside."""

import numbus as nb
import numpy as np
import pytest
from helpers import draw, run_both, to_numpy

R = np.random.default_rng(5)
A, C, D = R.uniform(-2, 2, (3, 40, 7))
IT = np.zeros((40, 7), int)

PROGRAMS = {
    "read": "m = a > s\nx = c[m]",
    "count": "m = a > s\nn = len(c[m])\nk = c[m].shape\nz = m.sum()",
    "mandelbrot": "m = abs(c) < 1.5\nc[m] = c[m]**2 + d[m]\nit[m] += 1",
    "mandelbrot loop": "for _ in range(6):\n    m = abs(c) < 1.5\n    c[m] = c[m]**2 + d[m]\n"
    "    it[m] += 1",
    "value": "m = a > s\nx = c[m]\nx *= 2\ny = c[m]",
    "value kept": "m = a > s\nx = c[m]\nc[m] = 0\ny = x + 1",
    "sum": "m = a > s\nz = c[m].sum()\nw = c[m].mean()\nv = c[m].max()",
    "sum of product": "m = a > s\nz = (c[m] * d[m]).sum()",
    "mask changed": "m = a > s\nx = c[m]\nm[0] = False\ny = c[m]\nc[m] = 5",
    "mask replaced": "m = a > s\nc[m] = 1\nm = c > 0.5\nc[m] = 2",
    "source changed": "m = c > s\nc += 1\nc[m] = 0",
    "self mask": "c[c > s] = c[c > s] * 0.5\nc[c < 0] = 0",
    "not": "m = a > s\nc[~m] = -1\nc[m & (d > 0)] += 3",
    "where": "m = a > s\ne = xp.where(m, c, d)\nf = xp.where(m, 1, 0)",
    "two masks": "m = a > s\nk = d > 0\nc[m] = d[m]\nc[k] = a[k]\nc[m] += c[m]",
    "assign compressed": "m = a > s\nx = c[m] + 1\nc[m] = x\nd[m] = x * x",
    "slice of compressed": "m = a > s\nx = c[m][::2]\ny = c[m][3:9]",
    "row mask": "m = a[:, 0] > s\nx = c[m]\nc[m] = 0\nc[m, 2] = 5",
    "column mask": "m = a[0] > s\nx = c[:, m]\nc[:, m] = 1",
    "view": "v = c[::2, ::-1]\nm = a[::2, ::-1] > s\nv[m] = 7\nx = v[m]",
    "all false": "m = a > 100\nx = c[m]\nc[m] = 3\nz = c[m].sum()\nn = len(x)",
    "all true": "m = a > -100\nx = c[m]\nc[m] *= 3",
    "scalar from mask": "m = a > s\nc[m] = c[m].sum()",
    "compute on x": "m = a > s\nx = c[m]\ny = d[m]\nz = x * y + xp.sqrt(abs(x))\nc[m] = z",
    "int": "it[a > s] += 3\nit[it == 3] = 9",
    "invert in place": "m = a > s\nm ^= d > 0\nc[m] = 0",
    "masked ufunc": "m = a > s\nxp.multiply(c, d, out=c, where=m)\n"
    "xp.sqrt(abs(d), out=d, where=~m)",
    "reduction where": "z = xp.sum(c, where=a > s)\nw = c.mean(axis=0, where=a > s)",
    "nan": "c[a > s] = xp.nan\nm = xp.isnan(c)\nc[m] = d[m]\nz = c.sum()",
    "keep nan": "c[a > s] = xp.nan\nm = d > 0\nc[m] = 1.0",
    "dead lanes": "m = d != 0\nit[m] = 7 // (it[m] + 1)\nc[m] = 1.0 / d[m]",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(xp, mode, name):
    run_both(xp, f"s = 0.123\n{PROGRAMS[name]}", 1e-14, a=A, c=C, d=D, it=IT)


@pytest.mark.parametrize("name", PROGRAMS)
def test_large(xp, mode, name):
    r = np.random.default_rng(6)
    a, c, d = r.uniform(-2, 2, (3, 400, 300))
    it = np.zeros((400, 300), int)
    run_both(xp, f"s = 0.123\n{PROGRAMS[name]}", 1e-11, a=a, c=c, d=d, it=it)


@pytest.mark.parametrize("name", ["mandelbrot", "mandelbrot loop"])
def test_complex(xp, mode, name):
    c = R.uniform(-2, 2, (30, 20)) + 1j * R.uniform(-2, 2, (30, 20))
    run_both(xp, PROGRAMS[name], 1e-12, c=c, d=c.copy(), it=np.zeros((30, 20), int))


def test_wrong_length(xp):
    c = xp.array(C)
    with pytest.raises(ValueError):
        c[c > 0] = xp.ones(3)
        xp.asarray(c).sum().item()
    with pytest.raises(IndexError):
        xp.ones((40, 7))[xp.ones((3, 7), bool)]


def test_list_and_python_bool_masks(xp):
    run_both(xp, "x = a[[True, False, True]]\na[[False, True, False]] = 8", a=np.arange(3.0))


@pytest.mark.parametrize(
    "text",
    [
        "xp.copyto(x, 7)",
        "xp.copyto(x, xp.array([1.0, 2, 3]))",
        "xp.copyto(x, xp.array([[1.0, 2, 3]])[0], where=xp.array([True, False, True]))",
        "xp.copyto(x, 9, where=xp.array([True, False, True]))",
        "xp.copyto(x, x * 2)",
        "y = xp.zeros(3)\nxp.copyto(y, x)",
        "xp.add(x, 1, out=x)",
        "xp.add(xp.array([1.0, 2, 3]), 1, out=x, where=xp.array([True, False, True]))",
        "xp.sum(xp.ones((3, 2)), axis=1, out=x)",
    ],
)
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_writing_to_what_a_mask_has_selected(xp, text, shape):
    """A value of its own: the array that was indexed stays as it is."""
    run_both(xp, f"x = c[c > 2]\n{text}", c=np.arange(6.0).reshape(shape))


@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 1, 6)])
def test_an_array_through_a_mask_of_all(xp, shape):
    """Values one by one: from an array, from the array itself, by masks of either library."""
    rng = np.random.default_rng(3)
    want, mask = rng.random(shape), rng.random(shape) < 0.6
    for where in (xp.array(mask), mask):
        got, real = xp.array(want) * 2, want * 2
        values = rng.random(int(mask.sum()))
        got[where] = xp.array(values) + 1  # pending
        real[mask] = values + 1
        assert np.array_equal(to_numpy(got), real)
        got[where] = got.ravel()[::-1][: values.size]  # its own memory, as it was before
        real[mask] = real.ravel()[::-1][: values.size].copy()
        assert np.array_equal(to_numpy(got), real)
        later, before = got + 1, real + 1
        got[~where] = got[where].sum()
        real[~mask] = real[mask].sum()
        np.testing.assert_allclose(to_numpy(got), real, rtol=1e-15)
        assert np.array_equal(to_numpy(later), before)
        with pytest.raises(ValueError):
            got[where] = xp.ones(values.size + 2)


@pytest.mark.parametrize("text", [
    "q[q > 0] = xp.sqrt(q[q > 0])", "q[(q > 0) & (q < 1)] = -p[(q > 0) & (q < 1)]",
    "q[q > p] = p[q > p] * 2", "s = (q[q > 0] * p[q > 0]).sum()",
     "q[~(q > 0)] += 1; q[q > 0] = q[q > 0]",
])  # fmt: skip
def test_a_mask_written_down_twice_is_one(xp, core, text):
    """The work stays on the full domain: nothing is compacted, so nothing flushed."""
    names = {"q": draw((40, 30), "float64"), "p": draw((40, 30), "float64", seed=1)}
    worlds = [{"xp": np, **{k: v.copy() for k, v in names.items()}}]
    worlds.append({"xp": xp, **{k: xp.array(v) for k, v in names.items()}})
    with np.errstate(invalid="ignore"):
        exec(text, worlds[0])
    core.synchronize()
    core.reset_stats()
    exec(text, worlds[1])
    assert core.stats()["flushes"] == 0
    for k in ("q", "p", *(["s"] if "s =" in text else [])):
        np.testing.assert_allclose(np.asarray(worlds[1][k]), worlds[0][k], 1e-13, err_msg=k)


@pytest.mark.parametrize("text", [
    "m = q > 0; q += 1; q[q > 0] = (q * 2)[m][:1]",
    "t = q[q > 0]; q[0] = -q[0]; u = q[q > 0]; n = t.size",
    "t = q[q > 0] * 2; r = q[q > 1]; n = t.size + r.size",
    "t = q[q > 0]; p = -q; u = p[p > 0]; n = t.size - u.size",
    "m = q > 0; t = p[m]; m[0] = True; u = p[q > 0]; v = p[m]; n = t.size + 2 * u.size + v.sum()",
    "m = q > 0; t = p[m]; k = q > 0; k[0] = True; u = p[k]; n = t.size + 2 * u.size",
    "t = q[q > 0]; q *= -1; u = q[q > 0]; s = u.sum() - t.sum()",
])  # fmt: skip
def test_masks_that_only_look_alike(xp, text):
    names = {"q": draw((40, 30), "float64"), "p": draw((40, 30), "float64", seed=1)}
    run_both(xp, text, rtol=1e-12, **names)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 7, 64, 1000, (1 << 16) + 3, 200_001])
def test_elements_side_by_side(xp, dtype, n):
    """All, none, runs and single ones, over several portions, contiguous or not."""
    x = draw((n,), dtype)
    r = np.random.default_rng(n)
    single = r.random(n) < 0.5
    for m in (single, np.ones(n, bool), np.zeros(n, bool), np.repeat(single, 20)[:n], ~single):
        got = xp.array(x)[xp.array(m)]
        assert got.size == m.sum()
        np.testing.assert_array_equal(np.asarray(got), x[m])
        got = xp.array(x)[::-1][xp.array(m)[::-1]]
        np.testing.assert_array_equal(np.asarray(got.copy()), x[::-1][m[::-1]])


def test_masks_of_arrays_that_were_written_in_part():
    for xp in (np, nb):
        u = xp.array(np.ones(6))
        v = xp.array(np.array([1.0, -1, 1, 1, -1, 1]))
        w, d = xp.ones(2), xp.arange(6.0)
        if xp is nb:
            nb.synchronize()
        xp.add(w, 1, out=u[2:4])
        xp.add(w, 1, out=v[2:4])
        s, t = d[u > 0], d[v > 0]
        np.testing.assert_array_equal(np.asarray(s), np.arange(6.0))
        np.testing.assert_array_equal(np.asarray(t), [0, 2, 3, 5])


def test_masks_of_functions_that_differ():
    @nb.vectorize
    def above(x):
        s = 0.0
        while s < x:
            s += 1.0
        return s > 2.5

    @nb.vectorize
    def far_above(x):
        s = 0.0
        while s < x:
            s += 1.0
        return s > 4.5

    q, d = nb.arange(8.0), nb.arange(8.0) * 10
    s, t = q[above(q)], d[far_above(q)]
    np.testing.assert_array_equal(np.asarray(s), [3, 4, 5, 6, 7])
    np.testing.assert_array_equal(np.asarray(t), [50, 60, 70])
    with pytest.raises(ValueError):
        q[above(q)] = d[far_above(q)]
        np.asarray(q)


SELECTED = "v = c[c > 0]\n"


@pytest.mark.parametrize("text", [
    "k = xp.sum(v, axis=())", "k = v.mean(axis=())", "k = xp.std(v * 1j, axis=())",
    "k = xp.prod(v, axis=0, keepdims=True)", "k = xp.sum(v, axis=-1)", "k = v.var(axis=0)",
    "k = v.ndim", "k = v.flags.owndata", "k = v.base is None", "k = v.itemsize", "k = v.T",
    "v.dtype = xp.int64", "v.shape = (1, v.size)", "k = v.strides", "w = v\nw += 1\nw *= w",
    "v += xp.arange(float(v.size))", "v[0] = 3\nv += 1", "k = xp.diff(v, axis=-1)",
    "k = v.astype(xp.int64)\nk //= 2", "k = v.astype(xp.int64) < v.astype(xp.uint64)",
    "k = v.astype(xp.float64, copy=False) is v", "k = xp.concatenate([v, c[c > 0.5]])",
    "k = xp.where(v > 1, v, -v)", "k = xp.where(v > 1, v, xp.arange(float(v.size)))",
    "k = v[v > 1]", "k = v[(v > 1) & (v < 2)]",
    "k = xp.sum(v, where=v > 1)", "k = xp.add(v, 1, out=v) is v", "k = v @ v", "k = xp.sort(v)",
    "k = xp.cumsum(v)", "k = xp.arange(9.0)[c[c > 0].astype(int)]", "k = list(v)", "k = v.tolist()",
])  # fmt: skip
def test_what_a_mask_has_selected_has_one_axis(xp, mode, text):
    """Whoever does not know masks gets an array of one axis, whatever the indexed one had."""
    for shape in ((40, 7), (30,), (3, 4, 5)):
        c = np.random.default_rng(8).uniform(-2, 2, shape)
        run_both(xp, SELECTED + text, 1e-13, c=c)


@pytest.mark.parametrize("text", [
    "xp.sum(v, axis=1)", "v.max(axis=1)", "v.mean(axis=2)", "xp.diff(v, axis=-2)",
    "xp.cumsum(v, axis=1)", "xp.sort(v, axis=1)", "v.flags.writeable = False\nv[0] = 1",
    "v.flags.writeable = False\nv += 1", "v += xp.ones(3)", "v[10**6]", "v.shape = (2, 10**6)",
    "v.astype(xp.int64).__iadd__(0.5)", "bool(v)", "float(v)", "v[0, 0]",
])  # fmt: skip
def test_what_a_mask_has_selected_refuses(xp, text):
    c = np.random.default_rng(8).uniform(-2, 2, (40, 7))
    kinds = []
    for lib in (np, xp):
        with pytest.raises(Exception) as raised:
            exec(SELECTED + text, {"xp": lib, "c": lib.array(c)})
        kinds.append(raised.value)
    assert isinstance(kinds[1], (type(kinds[0]).__mro__[:-3])), kinds


@pytest.mark.parametrize("text", [
    "k = -v", "k = v * 2 + v", "k = v ** 2", "v += 1", "v **= 2", "k = v.astype(xp.float32)",
    "k = xp.where(v > 1, v, 0)", "k = v.ndim, v.dtype, v.itemsize, v.base", "k = v.sum(axis=0)",
    "k = xp.mean(v)", "k = xp.sqrt(abs(v))", "c[c > 0] = v * 2", "k = v > 1", "k = v.std()",
])  # fmt: skip
def test_what_knows_masks_compacts_nothing(xp, core, text):
    names = {"xp": xp, "c": xp.array(draw((40, 30), "float64"))}
    core.synchronize()
    core.reset_stats()
    exec(SELECTED + text, names)
    assert core.stats()["flushes"] == 0

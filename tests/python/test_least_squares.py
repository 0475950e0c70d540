"""Least squares and polynomials that fit, against NumPy's: limits of the rank, shapes with more and
with fewer equations than unknowns, columns of zeros, scales.

Where the device is the CPU, the code for GPUs runs, too, with LAPACK in cuSOLVER's place. Solutions
are compared as far as the condition of the matrix lets them be known: the libraries differ in their
last bits, which it multiplies.
"""

import warnings

import numpy as np
import pytest
from conftest import DEVICE
from stand_ins import in_use

pytestmark = pytest.mark.numbus
DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1), (7, 2), (40, 9)]


@pytest.fixture(params=["library", "as on a GPU"])
def nb(request, xp, core):
    """The module under test; its calls of few elements, too, are its own."""
    before = core.answer_few(False)
    if request.param == "library":
        yield xp
    elif DEVICE == "cpu":
        with in_use():
            yield xp
    else:
        core.answer_few(before)
        pytest.skip("the real thing is tested")
    core.answer_few(before)


def matrix(shape, values, dtype, seed=0):
    """A matrix with these singular values."""
    rng = np.random.default_rng(seed)
    dtype, k = np.dtype(dtype), min(shape)

    def orthonormal(n):
        x = rng.standard_normal((n, k))
        if dtype.kind == "c":
            x = x + 1j * rng.standard_normal((n, k))
        return np.linalg.qr(x)[0]

    s = np.resize(values, k)
    return (orthonormal(shape[0]) * s @ orthonormal(shape[1]).conj().T).astype(dtype)


def right(rows, columns, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, *columns))
    return (x + 1j * x[::-1] if np.dtype(dtype).kind == "c" else x).astype(dtype)


def check(nb, a, b, **keywords):
    want = np.linalg.lstsq(a, b, **keywords)
    got = nb.linalg.lstsq(nb.array(a), nb.array(b), **keywords)
    x, residuals, rank, s = map(np.asarray, got)
    for mine, theirs in zip((x, residuals, rank, s), want):
        assert mine.dtype == np.asarray(theirs).dtype and mine.shape == np.shape(theirs)
    assert rank == want[2], (s, want[3])
    # Results of short types are rounded to them; the work is done in double precision.
    eps, first = np.finfo(s.dtype).eps, float(max(want[3], default=0))
    assert np.abs(s - want[3]).max(initial=0) <= 50 * eps * first
    if rank:
        least = float(want[3][rank - 1])
        most = 200 * eps * first / least * float(np.abs(b).max(initial=0)) / least
        assert np.abs(x - want[0]).max(initial=0) <= most, (x, want[0])
        error = 200 * eps * first / least * float(np.sum(np.abs(b) ** 2))
        assert np.abs(residuals - want[1]).max(initial=0) <= error, (residuals, want[1])
    else:
        assert not x.any() and not want[0].any()
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [(), (1,), (4,)])
def test_of_full_rank(nb, shape, dtype, columns):
    check(nb, matrix(shape, [3, 1, 0.5], dtype), right(shape[0], columns, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (3, 3)])
@pytest.mark.parametrize("scale", [1, 1e-6, 1e6])
@pytest.mark.parametrize("rcond", [0.3, 0.05, 0.005, 0.0005])
def test_rcond_is_relative_to_the_largest(nb, shape, dtype, scale, rcond):
    """Of singular values 1, 0.1 and 0.001 of a scale, those above the limit count."""
    a = matrix(shape, [scale, 0.1 * scale, 0.001 * scale], dtype)
    rank = check(nb, a, right(shape[0], (2,), dtype), rcond=rcond)[2]
    assert rank == 1 + (rcond < 0.1) + (rcond < 0.001)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rcond", [None, -1, 1e-3])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
def test_columns_that_depend(nb, shape, dtype, rcond):
    a = matrix(shape, [2, 1, 1, 0.5], dtype)
    for column in (a[:, 0] * 0, a[:, 1], a[:, 0] - a[:, 1]):
        changed = a.copy()
        changed[:, -1] = column
        if rcond == -1 and column.any():
            continue  # the limit is that of rounding errors, which decide
        check(nb, changed, right(shape[0], (), dtype), rcond=rcond)
    check(nb, a * 0, right(shape[0], (2,), dtype), rcond=rcond)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3), (3, 2)])
@pytest.mark.parametrize("columns", [(), (0,), (2,)])
def test_of_nothing(nb, shape, columns):
    check(
        nb,
        matrix(shape, [1.0], "float64") if min(shape) else np.zeros(shape),
        right(shape[0], columns, "float64"),
    )


@pytest.mark.parametrize(
    "types",
    [
        ("int8", "float32"),
        ("float32", "float64"),
        ("float32", "complex64"),
        ("complex64", "float64"),
    ],
)
def test_of_two_types(nb, types):
    a = (10 * matrix((5, 3), [1, 2, 3], "float64")).astype(types[0])
    check(nb, a, right(5, (2,), types[1]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number(nb, bad):
    b = right(4, (2,), "float64")
    b[1, 1] = bad
    x = np.asarray(nb.linalg.lstsq(nb.array(matrix((4, 3), [1, 2], "float64")), nb.array(b))[0])
    assert not np.isfinite(x[:, 1]).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrices_of_no_numbers(xp, core, bad):
    """LAPACK does not always come back from these: only the code for GPUs is asked."""
    if not DEVICE.startswith("cuda") and DEVICE != "cpu":
        pytest.skip("NumPy's LAPACK answers")
    a = matrix((4, 3), [1, 2], "float64")
    a[2, 1] = bad
    before = core.answer_few(False)
    try:
        with in_use() if DEVICE == "cpu" else warnings.catch_warnings():
            with pytest.raises(np.linalg.LinAlgError, match="infinities or NaNs"):
                xp.linalg.lstsq(xp.array(a), xp.array(right(4, (), "float64")))
            if np.isnan(bad):
                with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
                    xp.linalg.svd(xp.array(a))
    finally:
        core.answer_few(before)


# --- polynomials --------------------------------------------------------------------------------

POINTS = {
    "whole": np.arange(6.0),
    "float32": np.linspace(-1, 1, 6).astype(np.float32),
    "ints": np.array([0, 1, 2, 3, 4, 6]),
    "far": 1000 + np.arange(6.0),
    "many": np.linspace(-2, 3, 400),
}
WEIGHTS = {"none": None, "some": [1, 2, 3, 1, 1, 2], "zeros": [1, 1, 0, 1, 1, 0]}


def values(n, kind):
    y = np.resize([1, 2, 0, 4, 1, 3], n)
    return {"ints": y, "complex": y + 1j * y[::-1], "two": np.stack([y, y[::-1] * 0.5], 1)}[kind]


def fits(nb, x, y, deg, **keywords):
    """polyfit() as NumPy's, with its warning where that warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        want = np.polyfit(x, y, deg, **keywords)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        got = nb.polyfit(nb.array(x), nb.array(y), deg, **keywords)
    ranks = [
        [w for w in some if w.category is np.exceptions.RankWarning] for some in (caught, noted)
    ]
    assert len(ranks[0]) == len(ranks[1])
    left = np.vander(x + 0.0, deg + 1)
    if keywords.get("w") is not None:
        left = left * np.asarray(keywords["w"])[:, None]
    size = np.sqrt((left * left).sum(0))
    condition = np.linalg.cond(left / size)
    scale = float(np.abs(np.asarray(y)).max()) / size[:, None]
    return got, want, condition, scale if np.ndim(y) > 1 else scale[:, 0]


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("kind", ["ints", "complex", "two"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("deg", [0, 1, 2, 3])
def test_polynomials_that_fit(nb, points, kind, weights, deg):
    x, w = POINTS[points], WEIGHTS[weights]
    if w is not None:
        w = np.resize(w, len(x))
    got, want, condition, scale = fits(nb, x, values(len(x), kind), deg, w=w)
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    if condition < 1e4:
        most = 1e3 * 2.3e-16 * condition * np.sqrt(len(x)) * scale
        assert (np.abs(got - want) <= most).all(), (got, want, condition)


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("kind", ["ints", "two"])
@pytest.mark.parametrize("cov", [True, "unscaled"])
def test_covariances(nb, points, kind, cov):
    (_, base), (_, known), condition, _ = fits(
        nb, POINTS[points], values(len(POINTS[points]), kind), 2, cov=cov
    )
    assert base.shape == known.shape and base.dtype == known.dtype
    if condition < 1e5:
        np.testing.assert_allclose(np.asarray(base), known, 1e3 * 2.3e-16 * condition**2)


@pytest.mark.parametrize("rcond", [None, 1e-3, 0.2])
@pytest.mark.parametrize("points", ["whole", "many", "far", "float32"])
@pytest.mark.parametrize("deg", [1, 3, 5, 12])
def test_all_that_a_fit_tells(nb, points, deg, rcond):
    x = POINTS[points]
    got, want, *_ = fits(nb, x, values(len(x), "two"), deg, rcond=rcond, full=True)
    assert np.asarray(got[2]) == want[2] and got[4] == want[4]
    np.testing.assert_allclose(np.asarray(got[3]), want[3], 0, 1e-14 * want[3][0])
    assert got[1].shape == want[1].shape
    np.testing.assert_allclose(np.asarray(got[1]), want[1], 1e-8, 1e-8)

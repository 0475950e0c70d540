"""Running sums, order statistics, reductions that skip NaN, comparisons of arrays."""

import numpy as np

from .._library import known, not_yet
from .products import dot
from .sorting import sort


@known("np.cumsum")
def cumsum(a, axis=None):
    """One after the other."""
    if axis is None or a.ndim == 0:
        return running_sums(a.ravel())
    return np.swapaxes(running_sums(np.swapaxes(a, axis, 0)), axis, 0)


def running_sums(lines):
    out = np.empty(lines.shape, lines[:0].sum().dtype)
    for i in range(lines.shape[0]):
        out[i] = lines[i]
        if i:
            out[i] += out[i - 1]
    return out


@known("np.cumprod")
def cumprod(a, axis=None):
    """One after the other."""
    if axis is None or a.ndim == 0:
        return running_products(a.ravel())
    return np.swapaxes(running_products(np.swapaxes(a, axis, 0)), axis, 0)


def running_products(lines):
    out = np.empty(lines.shape, lines[:0].sum().dtype)
    for i in range(lines.shape[0]):
        out[i] = lines[i]
        if i:
            out[i] *= out[i - 1]
    return out


@known("np.diff")
def diff(a, n=1, axis=-1):
    """Neighbours subtracted."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a.copy()
    if axis < -a.ndim or axis >= a.ndim:
        raise np.exceptions.AxisError(
            f"axis {axis} is out of bounds for array of dimension {a.ndim}"
        )
    if a.ndim > 2:
        not_yet("np.diff of more than two axes")
    if a.ndim == 2 and (axis == 0 or axis == -2):
        rows = steps(a[1:], a[:-1])
        return rows if n == 1 else diff(rows, n - 1, axis)
    if a.ndim == 2:
        columns = steps(a[:, 1:], a[:, :-1])
        return columns if n == 1 else diff(columns, n - 1, axis)
    line = steps(a[1:], a[:-1])
    return line if n == 1 else diff(line, n - 1, axis)


def steps(later, earlier):
    """Differences; of booleans, whether they differ."""
    if later.dtype == np.bool_:
        return later != earlier
    return later - earlier


@known("np.ediff1d")
def ediff1d(a):
    """Neighbours subtracted."""
    flat = a.ravel()
    return steps(flat[1:], flat[:-1])


@known("np.trapezoid", "np.trapz")
def trapezoid(y, x=None, dx=1.0):
    """The trapezoidal rule."""
    s = 0.0 * y[:0].sum()
    for i in range(1, y.shape[0]):
        if x is None:
            s += dx * (y[i] + y[i - 1]) / 2.0
        else:
            s += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2.0
    return s


@known("np.median")
def median(a):
    """The middle of the sorted elements; NaN where there is one."""
    s = sort(a.ravel())
    n = s.shape[0]
    out_type = np.true_divide(s, 1).dtype
    if n == 0:
        return out_type.type(np.nan)
    if s[n - 1] != s[n - 1]:
        return out_type.type(np.nan)
    if n % 2:
        return out_type.type(s[n // 2])
    return (out_type.type(s[n // 2 - 1]) + out_type.type(s[n // 2])) / out_type.type(2)


def quantile_of(s, q):
    """Between the two nearest places of a sorted array, as NumPy's method 'linear'."""
    n = s.shape[0]
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    out_type = np.true_divide(s, 1).dtype
    if s[n - 1] != s[n - 1]:
        return out_type.type(np.nan)
    at = q * (n - 1)
    k = min(int(at), n - 1)
    t = at - k
    low = s[k]
    high = s[min(k + 1, n - 1)]
    d = out_type.type(high) - out_type.type(low)
    if t >= 0.5:
        return out_type.type(high - d * (1 - t))
    return out_type.type(low + d * t)


@known("np.quantile")
def quantile(a, q):
    """Of the sorted elements, linear between two."""
    s = sort(a.ravel())
    if isinstance(q, np.ndarray):
        out = np.empty(q.shape[0], np.true_divide(s, 1).dtype)
        for i in range(q.shape[0]):
            out[i] = quantile_of(s, q[i])
        return out
    return quantile_of(s, float(q))


@known("np.percentile")
def percentile(a, q):
    """quantile() of hundredths."""
    s = sort(a.ravel())
    if isinstance(q, np.ndarray):
        out = np.empty(q.shape[0], np.true_divide(s, 1).dtype)
        for i in range(q.shape[0]):
            out[i] = quantile_of(s, q[i] / 100)
        return out
    return quantile_of(s, float(q) / 100)


def interp_one(x, xp, fp):
    """One value, by bisection."""
    n = xp.shape[0]
    if x != x:
        return float(x)
    if x <= xp[0]:
        return float(fp[0])
    if x >= xp[n - 1]:
        return float(fp[n - 1])
    low = 0
    high = n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xp[middle] <= x:
            low = middle
        else:
            high = middle
    slope = (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low])
    return float(slope * (x - xp[low]) + fp[low])


@known("np.interp")
def interp(x, xp, fp):
    """Linear between the places found by bisection."""
    if isinstance(x, np.ndarray):
        out = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = interp_one(x[i], xp, fp)
        return out
    return interp_one(x, xp, fp)


@known("np.ptp")
def ptp(a):
    """Largest minus smallest."""
    return a.max() - a.min()


@known("np.average")
def average(a, axis=None, weights=None):
    """The mean, weighted."""
    if axis is not None:
        raise ValueError("average along an axis inside a compiled function")
    if weights is None:
        return a.mean()
    return (a * weights).sum() / weights.sum()


@known("np.cov")
def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """Of rows: products of what differs from their means, by the observations less ddof."""
    less = (0 if bias else 1) if ddof is None else ddof
    if less != int(less):
        raise ValueError("ddof must be integer")
    if y is not None:
        return cov_rows(two_rows(m, y), less)
    if m.ndim == 1:
        d = m * np.float64(1) - m.mean()
        return (d * np.conj(d)).sum() / max(m.shape[0] - less, 0)
    if rowvar:
        return cov_rows(m, less)
    return cov_rows(m.T, less)


def two_rows(x, y):
    """Two vectors as a matrix."""
    rows = np.empty((2, x.shape[0]), (x[:0] * np.float64(1) + y[:0]).dtype)
    rows[0] = x
    rows[1] = y
    return rows


def cov_rows(m, less):
    """cov() of a matrix."""
    d = np.empty(m.shape, (m * np.float64(1)).dtype)
    for i in range(m.shape[0]):
        d[i] = m[i] - m[i].mean()
    return dot(d, np.conj(d).T) / max(m.shape[1] - less, 0)


@known("np.corrcoef")
def corrcoef(x, y=None):
    """Covariances over the deviations."""
    if y is None:
        c = cov_rows(x, 1)
    else:
        c = cov_rows(two_rows(x, y), 1)
    out = np.empty(c.shape, c.dtype)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            out[i, j] = c[i, j] / np.sqrt(c[i, i].real) / np.sqrt(c[j, j].real)
    return out


@known("np.nansum")
def nansum(a):
    """NaN counts as zero."""
    return np.where(np.isnan(a), a.dtype.type(0), a).sum()


@known("np.nanprod")
def nanprod(a):
    """NaN counts as one."""
    return np.where(np.isnan(a), a.dtype.type(1), a).prod()


@known("np.nanmean")
def nanmean(a):
    """The mean of what is not NaN."""
    return nansum(a) / np.count_nonzero(~np.isnan(a))


@known("np.nanvar")
def nanvar(a):
    """The variance of what is not NaN."""
    d = a - nanmean(a)
    return nanmean(d * d)


@known("np.nanstd")
def nanstd(a):
    """The root of nanvar()."""
    return np.sqrt(nanvar(a))


@known("np.nanmin")
def nanmin(a):
    """The smallest that is not NaN."""
    best = a.ravel()[0]
    for v in a.ravel():
        if v < best or best != best:
            best = v
    return best


@known("np.nanmax")
def nanmax(a):
    """The largest that is not NaN."""
    best = a.ravel()[0]
    for v in a.ravel():
        if v > best or best != best:
            best = v
    return best


@known("np.nanmedian")
def nanmedian(a):
    """The median of what is not NaN."""
    flat = a.ravel()
    return median(flat[~np.isnan(flat)])


@known("np.nanargmin")
def nanargmin(a):
    """Where the smallest is."""
    return np.where(np.isnan(a), a.dtype.type(np.inf), a).argmin()


@known("np.nanargmax")
def nanargmax(a):
    """Where the largest is."""
    return np.where(np.isnan(a), a.dtype.type(-np.inf), a).argmax()


def close(a, b, rtol, atol):
    """NumPy's rule for two numbers; NaN is close to nothing."""
    return a == b or (abs(b) < np.inf and abs(a - b) <= atol + rtol * abs(b))


@known("np.isclose")
def isclose(a, b, rtol=1e-05, atol=1e-08):
    """Element by element."""
    if not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray):
        return close(a, b, rtol, atol)
    return (a == b) | ((np.abs(b) < np.inf) & (np.abs(a - b) <= atol + rtol * np.abs(b)))


@known("np.allclose")
def allclose(a, b, rtol=1e-05, atol=1e-08):
    """All of isclose()."""
    if not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray):
        return close(a, b, rtol, atol)
    return bool(np.all(isclose(a, b, rtol, atol)))


@known("np.array_equal")
def array_equal(a, b):
    """The same shape and elements."""
    if a.ndim != b.ndim:
        return False
    for d in range(a.ndim):
        if a.shape[d] != b.shape[d]:
            return False
    x = a.ravel()
    y = b.ravel()
    for i in range(x.shape[0]):
        if x[i] != y[i]:
            return False
    return True


@known("np.polyval")
def polyval(p, x):
    """Horner's rule."""
    p = np.asarray(p)
    if isinstance(x, np.ndarray):
        y = np.zeros(x.shape, (x * p.dtype.type(1)).dtype)
    else:
        y = p.dtype.type(0)
    for c in p:
        y = y * x + c
    return y

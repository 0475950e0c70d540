"""Derivatives of what libraries compute: factorisations, solutions, Fourier transforms.

A rule takes a call (its arguments, keywords and results) and gives a function from the
adjoints of the results to those of the operands. Adjoints of complex numbers x + iy are
d/dx + i d/dy.
Sources: Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation (2008); Townsend, Differentiating the singular value decomposition (2016); Seeger et
al., Auto-differentiating linear algebra (2017).
"""

import itertools
import math
import sys
from typing import NamedTuple

import numpy

from .. import _core
from .._core import generic, ndarray
from . import fallback, trees
from .errors import message
from .operands import to_ndarray, to_numpy

looked_at = [0]  # blocks of numbus.detect_anomaly that are open
_RULES = {}
_COMPOSED = {}  # by functions that have rules


class _Call(NamedTuple):
    args: list
    kwargs: dict
    results: list


def _rule(*names):
    def note(function):
        _RULES.update(dict.fromkeys(names, function))
        return function

    return note


def watched(arrays):
    """Whether one of them depends on what is differentiated."""
    return _core.watching() and any(
        [_core.depends(a) for a in arrays if isinstance(a, (ndarray, generic))]
    )


def apply(name, function, args, kwargs):
    """The results of a library's function, entered as one piece of work with its derivative.

    A rule computes nothing before the adjoints are there: nothing would hold what it had made.
    Raises NotImplementedError for functions without a rule.
    """
    if name in _COMPOSED:
        return _COMPOSED[name](*args, **kwargs)
    rule = _RULES.get(name)
    if rule is None:
        raise NotImplementedError(
            message("grad", "the derivative of this function is not yet available", name,
                    "another function, nb.custom_gradient, or nb.stop_gradient for a constant")
        )  # fmt: skip
    numbers = [k for k, x in enumerate(args) if isinstance(x, (ndarray, generic))]
    operands = [to_ndarray(args[k]) for k in numbers]
    # What the rule reads are operands and results of the work itself, so that a tape keeps how they
    # came about; the program has copies, since it may write to its operands and results later.
    inner = [_core.copy_of(a) for a in operands]
    kept = list(args)
    for k, a in zip(numbers, inner, strict=True):
        kept[k] = a
    with _core.unobserved():
        result = function(*args, **kwargs)
        leaves, shape = trees.flatten(result)
        made = [to_ndarray(leaf) for leaf in leaves]
    pull = rule(_Call(kept, kwargs, made))

    def back(*adjoints):
        found = pull(*adjoints)
        found = found if isinstance(found, (tuple, list)) else (found,)
        fitted = []
        for g, a in zip(found, inner, strict=True):
            fitted.append(None if g is None else _sum_to(g, a.shape))
        return fitted

    _core.add_work(name, inner, made, back)
    made = [_core.copy_of(a) for a in made]
    return trees.unflatten(shape, [a[()] if a.ndim == 0 else a for a in made])


def require_numbers(name, operands, result):
    """Raises where NaN comes of operands without it, as numbus.detect_anomaly asks."""

    def has_nan(x):
        a = to_ndarray(x)
        return a.dtype.kind in "fc" and bool(numpy.isnan(to_numpy(a)).any())

    with _core.unobserved():
        if any([has_nan(x) for x in operands]) or not any(map(has_nan, trees.flatten(result)[0])):
            return result
    file, line = fallback.caller()
    raise RuntimeError(
        message("detect_anomaly", "an operation on numbers gave NaN", f"{name} at {file}:{line}",
                "numbers")
    )  # fmt: skip


class Slope:
    """The derivative of a function of elements, as a function of arrays; told apart by a number."""

    _numbers = itertools.count(1)

    def __init__(self, slope):
        self.number = next(self._numbers)
        self.back = lambda x, g: g * slope(x).astype(x.dtype)


def of_element(name, function, slope, operands):
    """A function of elements, of one operand, entered with its derivative, a Slope."""
    (x,) = (_core.copy_of(to_ndarray(operand)) for operand in operands)
    with _core.unobserved():
        made = to_ndarray(function(x))
    _core.enter_element(name, slope.number, slope.back, x, made)
    return made[()] if made.ndim == 0 else made


def sloped(name, function, slope):
    """A function of an array's elements whose derivative is `slope`, a function of arrays, too."""
    entered = Slope(slope)

    def call(x):
        return of_element(name, function, entered, (x,)) if watched((x,)) else function(x)

    call.__name__ = call.__qualname__ = name
    return call


def _numbus():
    return sys.modules["numbus"]


def _sum_to(g, shape):
    """`g` summed over the axes along which an operand of that shape was broadcast."""
    extra = g.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        [k + extra for k, n in enumerate(shape) if n == 1 and g.shape[k + extra] != 1]
    )
    return g.sum(axis=axes).reshape(shape) if axes else g


def _adjoint(m):
    m = m.swapaxes(-1, -2)
    return m.conj() if m.dtype.kind == "c" else m


def _each(numbers):
    """A number for each matrix of a stack."""
    return numbers[..., None, None]


def _hermitian(m):
    return (m + _adjoint(m)) * 0.5


def _without_phase(op, products, scale):
    """Raises where a function of vectors, each of which has any phase, depends on these phases.

    products: the imaginary parts of what would be zero; scale: of the adjoints.
    """
    nb = _numbus()
    with _core.unobserved():
        limit = 1e-2 if products.dtype.itemsize < 8 else 1e-6
        if nb.any(nb.absolute(products) > limit * (1 + nb.max(scale, initial=0.0))):
            raise RuntimeError(
                message(op, "vectors are known up to a phase, on which the function depends", "one",
                        "a function of their sizes, of projections or the like")
            )  # fmt: skip


def _diagonal(m):
    return _numbus().diagonal(m, 0, -2, -1)


def _not_yet(name, what):
    raise NotImplementedError(
        message("grad", "the derivative of this call is not yet available", f"{name} {what}",
                "another call, nb.custom_gradient, or nb.stop_gradient for a constant")
    )  # fmt: skip


@_rule("linalg.solve")
def _solve(call):
    (a, b), (x,) = call.args, call.results
    linalg = _numbus().linalg

    def pull(g):
        of_b = linalg.solve(_adjoint(a), g)
        if b.ndim == 1:
            return -(of_b[..., :, None] * x.conj()[..., None, :]), of_b
        return -(of_b @ _adjoint(x)), of_b

    return pull


@_rule("linalg.inv")
def _inv(call):
    def pull(g):
        inverse = _adjoint(call.results[0])
        return -(inverse @ g @ inverse)

    return pull


@_rule("linalg.det")
def _det(call):
    (a,), (d,) = call.args, call.results
    return lambda g: _each(g * d.conj()) * _adjoint(_numbus().linalg.inv(a))


@_rule("linalg.slogdet")
def _slogdet(call):
    (a,) = call.args
    if a.dtype.kind == "c":
        _not_yet("slogdet", "of complex matrices")

    def pull(_of_sign, of_log):
        if of_log is None:  # the sign of a real determinant does not change
            return _numbus().zeros_like(a)
        return _each(of_log) * _adjoint(_numbus().linalg.inv(a))

    return pull


def _lower(m):
    """The lower triangle, the diagonal halved."""
    nb = _numbus()
    return nb.tril(m) - 0.5 * m * nb.eye(m.shape[-1], dtype=m.dtype)


@_rule("linalg.cholesky")
def _cholesky(call):
    upper = call.kwargs.get("upper", False)
    linalg = _numbus().linalg

    def pull(g):
        factor = _adjoint(call.results[0]) if upper else call.results[0]
        g = _adjoint(g) if upper else g
        inner = _lower(_adjoint(factor) @ _numbus().tril(g))
        inverse = linalg.inv(factor)
        return _hermitian(_adjoint(inverse) @ inner @ inverse)

    return pull


def _differences(values):
    """values[j] - values[i] for i and j, infinite on the diagonal: what is divided by them is the
    share of the vectors in a derivative, which is none (NaN) for equal values.
    """
    nb = _numbus()
    d = values[..., None, :] - values[..., :, None]
    return nb.where(nb.eye(values.shape[-1], dtype=bool), numpy.inf, d)


def _over(m, differences):
    with _numbus().errstate(divide="ignore", invalid="ignore"):
        return m / differences


@_rule("linalg.eigh")
def _eigh(call):
    values, vectors = call.results

    def pull(of_values, of_vectors):
        inner = 0.0
        if of_values is not None:
            inner = of_values[..., None, :] * _numbus().eye(values.shape[-1])
        if of_vectors is not None:
            by_vectors = _adjoint(vectors) @ of_vectors
            if vectors.dtype.kind == "c":
                _without_phase("eigh", _diagonal(by_vectors).imag, abs(of_vectors))
            inner = inner + _over(by_vectors, _differences(values))
        return _hermitian(vectors @ inner.astype(vectors.dtype) @ _adjoint(vectors))

    return pull


@_rule("linalg.eigvalsh")
def _eigvalsh(call):
    (a,) = call.args[:1]
    rest = call.args[1:]

    def pull(g):
        vectors = _numbus().linalg.eigh(a, *rest, **call.kwargs)[1]
        return _hermitian((vectors * g[..., None, :]) @ _adjoint(vectors))

    return pull


def _of_values(a, g):
    u, _, vt = _numbus().linalg.svd(a, full_matrices=False)
    return (u * g[..., None, :]) @ vt


@_rule("linalg.svdvals")
def _svdvals(call):
    return lambda g: _of_values(call.args[0], g)


@_rule("linalg.svd")
def _svd(call):
    a = call.args[0]
    if len(call.results) == 1:
        return lambda g: _of_values(a, g)
    u, s, vt = call.results
    if u.shape[-1] != s.shape[-1] or vt.shape[-2] != s.shape[-1]:
        _not_yet("svd", "with full_matrices of matrices that are not square")

    def _of_phases(of_u, of_vt):
        """What the phases of both vectors of a pair, which are one, have in the diagonal."""
        left = 0.0 if of_u is None else _diagonal(_adjoint(u) @ of_u).imag
        right = 0.0 if of_vt is None else _diagonal(vt @ _adjoint(of_vt)).imag
        scale = [abs(g).max() for g in (of_u, of_vt) if g is not None and g.size]
        _without_phase("svd", left + right, _numbus().stack(scale) if scale else s)
        return 1j * left / s if of_u is not None else 0.0 * s

    def pull(of_u, of_s, of_vt):
        eye, v = _numbus().eye(s.shape[-1], dtype=a.dtype), _adjoint(vt)
        inner = eye * (of_s[..., None, :] if of_s is not None else 0.0)
        if a.dtype.kind == "c" and not (of_u is None and of_vt is None):
            inner = inner + eye * _of_phases(of_u, of_vt)[..., None, :]
        f = _differences(s * s)
        found = 0.0
        if of_u is not None:
            j = _over(_adjoint(u) @ of_u, f)
            inner = inner + (j + _adjoint(j)) * s[..., None, :]
            rest = of_u - u @ (_adjoint(u) @ of_u)
            found = found + (rest / s[..., None, :]) @ vt
        if of_vt is not None:
            of_v = _adjoint(of_vt)
            k = _over(_adjoint(v) @ of_v, f)
            inner = inner + s[..., :, None] * (k + _adjoint(k))
            rest = of_v - v @ (_adjoint(v) @ of_v)
            found = found + (u / s[..., None, :]) @ _adjoint(rest)
        return found + u @ inner @ vt

    return pull


def _plain(g, x):
    return g if x.dtype.kind == "c" else g.real


@_rule("linalg.eig")
def _eig(call):
    (a,), (values, vectors) = call.args, call.results

    def pull(of_values, of_vectors):
        nb, back = _numbus(), _adjoint(vectors)
        inner = 0.0
        if of_values is not None:
            inner = of_values[..., None, :] * nb.eye(values.shape[-1])
        if of_vectors is not None:
            by_vectors = back @ of_vectors
            sizes = _diagonal(by_vectors)
            if vectors.dtype.kind == "c":
                _without_phase("eig", sizes.imag, abs(of_vectors))
            # Vectors have a length of one.
            by_vectors = by_vectors - (back @ vectors) * sizes.real[..., None, :]
            inner = inner + _over(by_vectors, _differences(values.conj()))
        return _plain(nb.linalg.solve(back, inner.astype(vectors.dtype) @ back), a)

    return pull


@_rule("linalg.eigvals")
def _eigvals(call):
    (a,), (values,) = call.args, call.results

    def pull(g):
        back = _adjoint(_numbus().linalg.eig(a)[1]).astype(values.dtype)
        return _plain(_numbus().linalg.solve(back, g[..., :, None] * back), a)

    return pull


@_rule("linalg.pinv")
def _pinv(call):
    a, p = call.args[0], call.results[0]
    eye = _numbus().eye

    def pull(g):
        back, other = _adjoint(p), _adjoint(g)
        left = eye(a.shape[-2], dtype=a.dtype) - a @ p
        right = eye(a.shape[-1], dtype=a.dtype) - p @ a
        return left @ other @ p @ back + back @ p @ other @ right - back @ g @ back

    return pull


@_rule("linalg.lstsq")
def _lstsq(call):
    a, b = call.args[:2]
    rcond = call.args[2] if len(call.args) > 2 else call.kwargs.get("rcond")
    nb, x = _numbus(), call.results[0]

    def pull(of_x, of_squares, _of_rank, of_s):
        limit = numpy.finfo(a.dtype).eps * max(a.shape) if rcond is None else rcond
        columns, solution = (b[:, None], x[:, None]) if b.ndim == 1 else (b, x)
        rest = columns - a @ solution
        of_a, of_b = 0.0, nb.zeros_like(columns)
        if of_x is not None:
            g = of_x[:, None] if b.ndim == 1 else of_x
            p = nb.linalg.pinv(a, limit)
            back, other = _adjoint(p), _adjoint(g)
            right = nb.eye(a.shape[-1], dtype=a.dtype) - p @ a
            of_b = back @ g
            of_a = rest @ (other @ p @ back) + back @ (solution @ other @ right)
            of_a = of_a - of_b @ _adjoint(solution)
        if of_squares is not None and of_squares.size:
            part = 2 * rest * of_squares
            of_b, of_a = of_b + part, of_a - part @ _adjoint(solution)
        if of_s is not None:
            of_a = of_a + _of_values(a, of_s)
        of_a = of_a if isinstance(of_a, _core.ndarray) else nb.zeros_like(a)
        return of_a, of_b[:, 0] if b.ndim == 1 else of_b

    return pull


@_rule("linalg.qr")
def _qr(call):
    a = call.args[0]
    mode = call.args[1] if len(call.args) > 1 else call.kwargs.get("mode", "reduced")
    if mode != "reduced" or a.shape[-2] < a.shape[-1]:
        _not_yet("qr", f"with mode={mode!r} of matrices of shape {a.shape[-2:]}")
    q, r = call.results
    nb = _numbus()

    def pull(of_q, of_r):
        of_q = nb.zeros_like(q) if of_q is None else of_q
        of_r = nb.zeros_like(r) if of_r is None else nb.triu(of_r)
        m = r @ _adjoint(of_r) - _adjoint(of_q) @ q
        low = nb.tril(m, -1)
        even = low + _adjoint(low) + m.real * nb.eye(m.shape[-1], dtype=m.real.dtype)
        return nb.linalg.solve(r, _adjoint(of_q + q @ even.astype(q.dtype))).swapaxes(-1, -2).conj()

    return pull


def _along(call, names):
    """The arguments of a transform by name."""
    found = dict(zip(("x", *names), call.args))
    return found | {key: value for key, value in call.kwargs.items() if key != "out"}


def _fitted(g, shape):
    """`g` cut, or filled up with zeros, to a shape."""
    if g.shape == shape:
        return g
    both = tuple([slice(0, min(n, m)) for n, m in zip(g.shape, shape)])
    filled = _numbus().zeros(shape, g.dtype)
    filled[both] = g[both]
    return filled


def _of_type(g, x):
    """The adjoint in the kind of the operand."""
    return g if x.dtype.kind == "c" else g.real


def _to_complex(name, several):
    """Transforms whose matrix is symmetric: of the conjugate, and conjugate again."""
    names = ("s", "axes", "norm") if several else ("n", "axis", "norm")

    def rule(call):
        given = _along(call, names)
        x = given.pop("x")
        given.pop(names[0], None)
        transform = getattr(_numbus().fft, name)
        if several and given.get("axes") is None and "axes" in given:
            given.pop("axes")
        if several and "axes" not in given and not name.endswith("2"):
            s = (call.args[1] if len(call.args) > 1 else call.kwargs.get("s")) or x.shape
            given["axes"] = tuple(range(x.ndim - len(s), x.ndim))

        def pull(g):
            return _of_type(_fitted(transform(g.conj(), **given).conj(), x.shape), x)

        return pull

    return rule


for _name in ("fft", "ifft"):
    _RULES["fft." + _name] = _to_complex(_name, False)
for _name in ("fft2", "ifft2", "fftn", "ifftn"):
    _RULES["fft." + _name] = _to_complex(_name, True)
del _name


@_rule("fft.rfft")
def _rfft(call):
    given = _along(call, ("n", "axis", "norm"))
    x, axis, norm = given["x"], given.get("axis", -1), given.get("norm")
    n = given.get("n") or x.shape[axis]
    fft = _numbus().fft

    def pull(g):
        shape = list(g.shape)
        shape[axis] = n
        whole = fft.fft(_fitted(g.conj(), tuple(shape)), axis=axis, norm=norm)
        return _fitted(whole.real, x.shape)

    return pull


@_rule("fft.irfft")
def _irfft(call):
    given = _along(call, ("n", "axis", "norm"))
    x, axis, norm = given["x"], given.get("axis", -1), given.get("norm")
    n = call.results[0].shape[axis]
    nb = _numbus()
    scale = {"ortho": 1 / math.sqrt(n), "forward": 1.0}.get(norm, 1 / n)

    def pull(g):
        half = nb.fft.rfft(g, axis=axis)
        weights = nb.full(half.shape[axis], 2 * scale, g.dtype)
        weights[0] = scale
        if n % 2 == 0:
            weights[-1] = scale
        shape = [1] * half.ndim
        shape[axis] = weights.size
        return _of_type(_fitted(half * weights.reshape(tuple(shape)), x.shape), x)

    return pull


def _extents(x, s, axes, real):
    """The extents and axes of a transform over several axes."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [axis % x.ndim for axis in axes]
    if s is None:
        s = [x.shape[axis] for axis in axes]
        if real:
            s[-1] = (s[-1] - 1) * 2
    return [x.shape[axis] if n in (-1, None) else n for n, axis in zip(s, axes)], axes


def _rfftn(x, s=None, axes=None, norm=None):
    fft = _numbus().fft
    s, axes = _extents(x, s, axes, False)
    x = fft.rfft(x, s[-1], axes[-1], norm)
    return fft.fftn(x, s[:-1], axes[:-1], norm) if len(axes) > 1 else x


def _irfftn(x, s=None, axes=None, norm=None):
    fft = _numbus().fft
    s, axes = _extents(x, s, axes, True)
    x = fft.ifftn(x, s[:-1], axes[:-1], norm) if len(axes) > 1 else x
    return fft.irfft(x, s[-1], axes[-1], norm)


def _swapped(norm):
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


_COMPOSED.update({
    "fft.rfftn": _rfftn,
    "fft.irfftn": _irfftn,
    "fft.rfft2": lambda x, s=None, axes=(-2, -1), norm=None: _rfftn(x, s, axes, norm),
    "fft.irfft2": lambda x, s=None, axes=(-2, -1), norm=None: _irfftn(x, s, axes, norm),
    "fft.hfft": lambda x, n=None, axis=-1, norm=None: _numbus().fft.irfft(
        x.conj(), n, axis, _swapped(norm)
    ),
    "fft.ihfft": lambda x, n=None, axis=-1, norm=None: _numbus().fft.rfft(
        x, n, axis, _swapped(norm)
    ).conj(),
})  # fmt: skip

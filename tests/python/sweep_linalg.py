"""numpy.linalg in the sweep: matrices of all kinds in stacks, every keyword, wrong arguments.

What NumPy's LAPACK gives on a host has to be the same bits. On a GPU, and where its code runs on
the host with LAPACK in cuSOLVER's place, it is compared by what is unique.
"""

import itertools

import numbus as nb
import numpy as np
from numbus import _core as core
from sweep_calls import (
    ABSENT,
    DTYPES,
    OTHERS,
    Call,
    Given,
    given,
    identical,
    near,
    same_kind,
    stands_in,
)

EXTENTS = [1, 2, 2, 3, 3, 4, 5, 0]
STACKS = [(2,), (1,), (0,), (2, 3), (3, 1), (2, 0), (1, 2, 2)]
KINDS = "any any any regular regular hermitian definite singular repeated zero NaN huge".split()


# --- operands -----------------------------------------------------------------------------------


def dtype_of(rng):
    return rng.choice(DTYPES) if rng.random() < 0.75 else rng.choice(OTHERS)


def stack(rng):
    return rng.mostly((), *STACKS, share=0.45)


def square(rng, **more):
    n = rng.choice(EXTENTS)
    m = n if rng.random() < 0.96 else n + 1
    return matrix(rng, (*stack(rng), m, n), **more)


def oblong(rng, **more):
    return matrix(rng, (*stack(rng), rng.choice(EXTENTS), rng.choice(EXTENTS)), **more)


def matrix(rng, shape, kinds=KINDS, dtype=None):
    """A matrix, or a stack of such, as NumPy holds it; seldom something with fewer axes."""
    if rng.random() < 0.03:
        shape = rng.choice([(), (3,), (0,)])
    dtype, kind = np.dtype(dtype or dtype_of(rng)), rng.choice(kinds)
    x = rng.numbers(shape, dtype)
    rows = range(min(shape[-2:])) if x.ndim > 1 else ()
    like_square = x.ndim > 1 and shape[-1] == shape[-2]
    if kind == "regular" and dtype.kind != "b" and x.ndim > 1:
        x[..., rows, rows] += dtype.type(3 * len(rows))
    elif kind in ("hermitian", "definite") and like_square:
        other = x.conj().swapaxes(-1, -2)
        if kind == "definite" and dtype.kind != "b":
            x = (np.matmul(x, other) + np.eye(shape[-1], dtype=dtype)).astype(dtype)
        else:
            x = (x | other) if dtype.kind == "b" else x + other
    elif kind == "singular" and x.size and x.ndim > 1:
        x[rng.choice([(..., 0, slice(None)), (..., -1), (0, ..., 0)])] = 0
    elif kind == "repeated" and x.size and x.ndim > 1:
        x[..., -1] = x[..., 0]
    elif kind == "zero":
        x = np.zeros(shape, dtype)
    elif kind in ("NaN", "infinite") and dtype.kind in "fc" and x.size:
        x.flat[rng.randrange(x.size)] = rng.choice([np.inf, -np.inf] if kind != "NaN" else [np.nan])
    elif kind == "huge" and dtype.kind in "fc":
        large = {"e": 50, "f": 1e25, "d": 1e180}[dtype.char.lower()]
        x = x * dtype.type(rng.choice([large, 1 / large]))
    return x


def vectors(rng, n, dtype=None):
    """Right sides for n equations: one, or several for each matrix of a stack."""
    shapes = [(n,), (n,), (n, 1), (n, 2), (n, 0), (2, n, 3), (1, n, 1), (2, 3, n, 2), (n + 1,), ()]
    return rng.numbers(rng.choice(shapes), dtype or dtype_of(rng))


def last(x, k):
    return x.shape[-k] if x.ndim >= k else 1


def number(x):
    """An operand beside others: a plain array without a kind of its own."""
    return Given(np.asarray(x))


# --- comparison ---------------------------------------------------------------------------------


def operand(call, name):
    x = call.chosen[name].of(np)
    x = np.asarray(x)
    return x.astype(np.result_type(x.dtype, np.float64))


def exact(call):
    """Whether it is NumPy's own LAPACK that answers."""
    return not call.on_gpu and core.get_device() in ("cpu", "fenced")


def growth(x, dtype):
    """How much rounding errors of solutions may grow, at most; infinity: nothing is known."""
    if not x.size:
        return 1
    if not np.isfinite(x).all():
        return np.inf
    s = np.linalg.svd(x, compute_uv=False)
    with np.errstate(all="ignore"):
        worst = float(np.max(s[..., 0] / s[..., -1], initial=1))
    dtype = np.dtype(dtype)
    eps = float(np.finfo(dtype if dtype.kind in "fc" else float).eps)
    return np.inf if not worst * eps < 0.01 else max(worst, 1)


def of_library(unique):
    """The same bits of NumPy's LAPACK; elsewhere `unique(got, want, call)`."""

    def compare(got, want, call):
        if exact(call):
            identical(got, want)
        else:
            unique(got, want, call)

    return compare


def kinds_of(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, type(want)) and len(got) == len(want), f"{got}; NumPy: {want}"
        for x, y in zip(got, want):
            kinds_of(x, y)
    else:
        same_kind(got, want)


def by_condition(name="a"):
    """Within what the condition of an operand lets rounding errors become."""

    def unique(got, want, call):
        dtype = np.asarray(want).dtype
        grown = growth(operand(call, name), dtype)
        kinds_of(got, want)
        if grown < np.inf:
            near(got, want, 100 * grown)

    return unique


def within(units):
    return lambda got, want, call: near(got, want, units)


def of_products(got, want, call):
    """Of `det`: beside the product of the lengths of the rows, which is what it can be at most."""
    kinds_of(got, want)
    a = operand(call, "a")
    if not np.isfinite(a).all():
        return
    with np.errstate(all="ignore"):
        most = np.prod(np.abs(a).max(-1, initial=0) * np.sqrt(a.shape[-1]), -1)
        distance = np.abs(np.asarray(got) - np.asarray(want))
        # NumPy takes the exponential of a sum of logarithms, which are large for such products.
        far = 1 + np.nan_to_num(np.abs(np.log(np.abs(np.asarray(want, complex)))), posinf=0)
    eps = np.finfo(np.asarray(want).dtype).eps
    if np.isfinite(most).all() and np.isfinite(np.asarray(want)).all():
        assert (distance <= 100 * eps * far * most + np.finfo(np.asarray(want).dtype).tiny).all(), (
            f"{got}; NumPy: {want}"
        )


def sign_and_size(got, want, call):
    kinds_of(got, want)
    dtype = np.asarray(want[0]).dtype
    grown = growth(operand(call, "a"), dtype)
    if grown < np.inf:
        near(got[0], want[0], 100 * grown)
        distance = np.abs(np.asarray(got[1]) - np.asarray(want[1]))
        most = 100 * (grown + np.abs(want[1])) * np.finfo(dtype).eps
        assert (distance < most).all(), f"{got}; NumPy: {want}"
    elif not operand(call, "a").any():
        identical(got, want)


def orthonormal(q, columns=True):
    q = np.asarray(q)
    inverse = q.conj().swapaxes(-1, -2)
    product = inverse @ q if columns else q @ inverse
    unit = np.eye(product.shape[-1])
    assert np.allclose(product, unit, 0, 1e3 * np.finfo(q.dtype).eps), f"not orthonormal: {q}"


def makes_up(product, a, dtype):
    eps = float(np.finfo(dtype).eps)
    largest = float(np.abs(a).max(initial=0))
    worst = np.abs(product - a).max(initial=0)
    assert worst <= 1e3 * eps * largest, f"makes {product} of {a}"


def eigenvectors(got, want, call):
    kinds_of(got, want)
    w, v = map(np.asarray, got)
    a = operand(call, "a")
    if "UPLO" in call.chosen or call.original is np.linalg.eigh:
        lower = str(call.chosen.get("UPLO", "L")).upper() == "L"
        part = np.tril(a, -1) if lower else np.triu(a, 1)
        diagonal = np.eye(a.shape[-1]) * a.real
        a = part + part.conj().swapaxes(-1, -2) + diagonal
        if np.isfinite(a).all():
            near(w, want[0], 100)
            orthonormal(v)
    if np.isfinite(a).all() and np.isfinite(w).all():
        makes_up(a @ v - w[..., None, :] * v + a, a, v.dtype)
        assert np.allclose(np.linalg.norm(v, axis=-2), 1, 0, 1e-3), v


def eigenvalues(got, want, call):
    """In any order; those of defective matrices are as precise as the root of an error."""
    kinds_of(got, want)
    got, want = [np.sort_complex(np.asarray(x)) for x in (got, want)]
    if np.isfinite(want).all() and want.size:
        scale = np.abs(operand(call, "a")).max()
        assert np.allclose(got, want, 0, scale * np.finfo(want.dtype).eps ** 0.25), (got, want)


def singular_values(got, want, call):
    if not isinstance(want, tuple):
        near(got, want, 100)
        return
    kinds_of(got, want)
    u, s, vt = map(np.asarray, got)
    near(s, want[1], 100)
    a, k = operand(call, "a"), s.shape[-1]
    if np.isfinite(a).all():
        orthonormal(u)
        if not call.chosen.get("hermitian"):  # whose vectors are zeros where the values are
            orthonormal(vt, False)
            makes_up((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], a, s.dtype)


def reflected(raw, tau):
    """(Q, R) of Householder's vectors below the diagonal of R, and their factors."""
    m, n = raw.shape[-2:]
    wide = raw.astype(complex)
    q = np.broadcast_to(np.eye(m, dtype=complex), (*raw.shape[:-2], m, m))
    for k in range(min(m, n)):
        v = wide[..., :, k] * (np.arange(m) > k) + (np.arange(m) == k)
        outer = v[..., :, None] * v.conj()[..., None, :]
        q = q @ (np.eye(m) - tau[..., k, None, None] * outer)
    return q, np.triu(wide)


def factors(got, want, call):
    """By what makes up the operand: the signs of rows of R hang on whether a number that vanishes
    has been rounded, however good the condition is.
    """
    kinds_of(got, want)
    a = operand(call, "a")
    if not np.isfinite(a).all() or not a.size:
        return
    mode, dtype = call.chosen.get("mode"), np.asarray(want[0]).dtype
    if mode == "raw":
        q, r = reflected(np.asarray(got[0]).swapaxes(-1, -2), np.asarray(got[1]))
        unit, eps = np.eye(q.shape[-1]), 1e3 * np.finfo(dtype).eps
        assert np.allclose(q.conj().swapaxes(-1, -2) @ q, unit, 0, eps), f"not orthonormal: {q}"
        return makes_up(q @ r, a, dtype)
    if mode in ("r", "e", "economic"):
        r = np.asarray(got)
        if mode == "r":
            assert (np.tril(r, -1) == 0).all()
        # RᴴR is AᴴA, of numbers that cannot overflow.
        scale = np.abs(a).max() or 1
        r, a = np.triu(r.astype(complex)) / scale, a / scale
        return makes_up(r.conj().swapaxes(-1, -2) @ r, a.conj().swapaxes(-1, -2) @ a, dtype)
    q, r = map(np.asarray, got)
    orthonormal(q)
    assert (np.tril(r, -1) == 0).all()
    makes_up(q @ r, a, q.dtype)


def least_squares(got, want, call):
    kinds_of(got, want)
    a, b = operand(call, "a"), operand(call, "b")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return
    rcond = call.chosen.get("rcond")
    if rcond is not None and 0 <= rcond < 1e-6 and growth(a, float) == np.inf:
        return  # the rank is a matter of rounding
    assert int(got[2]) == int(want[2]), f"rank {got[2]}; NumPy: {want[2]}"
    near(got[3], want[3], 100)
    s, rank = np.asarray(want[3]), int(want[2])
    grown = float(s[0]) / float(s[rank - 1]) if rank else 1
    if grown * np.finfo(s.dtype).eps < 0.01:
        distance = np.abs(np.asarray(got[0]) - want[0]).max(initial=0)
        most = float(np.abs(b).max(initial=0)) / float(s[rank - 1]) if rank else 0
        assert distance <= 1e3 * grown * np.finfo(s.dtype).eps * most, f"{got[0]}; NumPy: {want[0]}"
        most = float(np.sum(np.abs(b) ** 2, 0).max(initial=0)) if want[1].size else 0
        worst = np.abs(np.asarray(got[1]) - want[1]).max(initial=0)
        assert worst <= 1e3 * grown * np.finfo(s.dtype).eps * most, f"{got[1]}; NumPy: {want[1]}"


def condition(got, want, call):
    """Beyond what the type can tell from infinity, anything large."""
    kinds_of(got, want)
    got, want = np.asarray(got), np.asarray(want)
    limit = 0.01 / np.finfo(want.dtype).eps
    a, info = operand(call, "x"), np.finfo(want.dtype)
    sizes = np.abs(a[a != 0])
    other = call.chosen.get("p") not in (None, 2, -2)
    if other and growth(a, want.dtype) == np.inf:
        return
    if not np.isfinite(sizes).all():
        return
    if sizes.size and not (sizes.max() < info.max**0.4 and sizes.min() > info.tiny**0.4):
        return  # squares of it, or of its inverse, are zeros or infinite
    small = want < limit
    if call.chosen.get("p") == -2:
        near(got, want, 100)
    elif small.any():
        near(got[small], want[small], 100 * float(want[small].max()))
    assert not (got[~small & ~np.isnan(want)] < limit / 100).any(), f"{got}; NumPy: {want}"


def inverses(got, want, call):
    """Of `pinv`: as far as the singular values that count are apart from the limit."""
    kinds_of(got, want)
    a = operand(call, "a")
    if not a.size or not np.isfinite(a).all() or "hermitian" in call.chosen:
        return
    grown = growth(a, np.asarray(want).dtype)
    if grown < np.inf:
        near(got, want, 100 * grown)


# --- calls --------------------------------------------------------------------------------------


def flag(rng):
    return rng.mostly(ABSENT, True, False, 1, 0)


# LAPACK does not always come back from singular values of infinities.
WITH_INFINITIES = [*KINDS, "infinite"]


def draw_square(rng):
    return {"a": given(rng, square(rng, kinds=WITH_INFINITIES))}


def draw_one(rng, make=square, **more):
    return {"a": given(rng, make(rng, **more))}


def draw_cholesky(rng):
    kinds = ["definite"] * 8 + ["any", "zero", "NaN", "huge"]
    chosen = draw_one(rng, kinds=kinds)
    return chosen | {"upper": flag(rng)}


def draw_solve(rng):
    a = square(rng, kinds=WITH_INFINITIES)
    b = vectors(rng, last(a, 1))
    return {"a": given(rng, a), "b": given(rng, b)}


def draw_lstsq(rng):
    finite = [kind for kind in KINDS if kind != "NaN"]  # LAPACK may not come back from others
    a = matrix(rng, (rng.choice(EXTENTS), rng.choice(EXTENTS)), finite)
    if rng.random() < 0.04:
        a = square(rng, kinds=finite)
    b = rng.mostly(rng.numbers(rng.choice([(last(a, 2),), (last(a, 2), 2)]), dtype_of(rng)), ABSENT)
    b = vectors(rng, last(a, 2)) if b is ABSENT else b
    rcond = rng.mostly(ABSENT, None, -1, 1e-3, 0.5, 0, np.float32(1e-4), 1e-15, "x", [1e-3])
    return {"a": given(rng, a), "b": given(rng, b), "rcond": rcond}


def draw_eigh(rng):
    uplo = rng.mostly(ABSENT, "L", "U", "l", "u", "X", "", 1, b"L", None)
    return draw_one(rng, kinds=["hermitian"] * 4 + KINDS) | {"UPLO": uplo}


def draw_svd(rng):
    chosen = draw_one(rng, oblong)
    chosen |= {"full_matrices": flag(rng), "compute_uv": flag(rng)}
    if rng.random() < 0.3:
        chosen = draw_one(rng, kinds=["hermitian"]) | {"compute_uv": flag(rng), "hermitian": True}
    return chosen


def draw_qr(rng):
    modes = "reduced complete r raw full economic f e wrong".split()
    return draw_one(rng, oblong) | {"mode": rng.mostly(ABSENT, *modes, None, 1, share=0.3)}


def draw_cond(rng):
    orders = [2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc", 3, "x"]
    p = rng.mostly(ABSENT, None, *orders, share=0.3)
    make = oblong if p in (ABSENT, None, 2, -2) else square
    return {"x": given(rng, make(rng)), "p": p}


def draw_rank(rng):
    x = rng.mostly(oblong(rng), rng.numbers((3,), dtype_of(rng)), np.zeros(2), np.float32(2))
    tol = rng.mostly(ABSENT, None, 1e-5, 0.5, [1e-5], np.float32(0.1), share=0.7)
    rtol = rng.mostly(ABSENT, None, 1e-5, 0.5, np.array([1e-5, 0.9]), share=0.7)
    if rng.random() < 0.2:
        x = square(rng, kinds=["hermitian"])
        return {"A": given(rng, x), "tol": tol, "hermitian": True}
    return {"A": given(rng, np.asarray(x)), "tol": tol, "rtol": rtol}


def draw_pinv(rng):
    rcond = rng.mostly(ABSENT, None, 1e-5, 0.5, [1e-5], np.float32(0.1), share=0.7)
    rtol = rng.mostly(ABSENT, None, 1e-5, 0.5, [1e-3, 1e-2], share=0.7)
    if rng.random() < 0.2:
        return draw_one(rng, kinds=["hermitian"]) | {"rcond": rcond, "hermitian": True}
    return draw_one(rng, oblong) | {"rcond": rcond, "rtol": rtol}


def draw_power(rng):
    n = rng.mostly(2, 0, 1, 3, -1, -2, 5, np.int8(2), 2.0, "2", True, None, share=0.3)
    return draw_one(rng) | {"n": n}


def norm_operand(rng):
    extents = [0, 1, 2, 3, 4]
    shape = [rng.choice(extents) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    kinds = "any any any zero NaN huge singular".split()
    return matrix(rng, tuple(shape), kinds)


ORDERS = [None, 2, 1, -1, -2, 0, np.inf, -np.inf, 3, 0.5, -0.5, "fro", "nuc", "f", "x", "inf"]
ORDERS += [2.0, np.float32(1), np.int8(2), True, 1j]


def one_axis(rng, n):
    return rng.mostly(rng.randrange(-n, n) if n else 0, n, -n - 1, 0.5, np.int64(0), share=0.9)


def some_axes(rng, n):
    choices = [ABSENT, ABSENT, None, one_axis(rng, n), one_axis(rng, n)]
    if n > 1:
        choices += [tuple(rng.sample(range(n), 2)), (-1, 0), (0, -2), [0, 1]]
    if n > 2:
        choices += [(0, 1, 2), (0, 0)]
    return rng.choice([*choices, (), (0,), [0]])


def draw_norm(rng):
    x = norm_operand(rng)
    axis = some_axes(rng, x.ndim)
    order = rng.mostly(ABSENT, *ORDERS, share=0.2)
    return {"x": given(rng, x), "ord": order, "axis": axis, "keepdims": flag(rng)}


def draw_matrix_norm(rng):
    x = norm_operand(rng)
    order = rng.mostly(ABSENT, *ORDERS, share=0.2)
    return {"x": given(rng, x), "ord": order, "keepdims": flag(rng)}


def draw_multi_dot(rng):
    count = rng.choice([2, 2, 3, 3, 4, 5, 1, 0])
    extents = [rng.choice([1, 2, 3, 4, 0]) for _ in range(count + 1)]
    arrays = [rng.numbers(shape, dtype_of(rng)) for shape in itertools.pairwise(extents)]
    if arrays and rng.random() < 0.3:
        arrays[0] = arrays[0][:1].reshape(-1) if len(arrays[0]) else arrays[0]
    if arrays and rng.random() < 0.3:
        arrays[-1] = (
            arrays[-1][:, 0] if arrays[-1].shape[-1] and arrays[-1].ndim > 1 else arrays[-1]
        )
    if arrays and rng.random() < 0.05:
        arrays[rng.randrange(count)] = rng.numbers((2, 2, 2), "float64")
    chosen = {"arrays": [given(rng, a) for a in arrays]}
    if rng.random() < 0.2 and count > 1:
        try:
            made = np.linalg.multi_dot(arrays)
        except Exception:
            return chosen
        wrong = rng.mostly(made, made.astype(np.complex64), np.zeros(7), share=0.7)
        chosen["out"] = Given(np.zeros_like(wrong))
    return chosen


def draw_tensorinv(rng):
    shape, ind = rng.choice(
        [
            ((2, 2), 1), ((4, 6, 8, 3), 2), ((6, 3, 2), 1), ((2, 3, 6), 2), ((2, 2), 0), ((1,), 1),
            ((2, 3), 1), ((3, 3), -1), ((2, 2, 2, 2), 2), ((0, 0), 1), ((2, 2, 4), 2),
            ((2, 2), 2), ((4, 4), 1.0),
        ]
    )  # fmt: skip
    x = matrix(rng, shape, ["any", "any", "regular", "zero", "singular"])
    return {"a": given(rng, x), "ind": ABSENT if ind == 2 and rng.random() < 0.5 else ind}


def draw_tensorsolve(rng):
    shape, right, axes = rng.choice(
        [
            ((2, 3, 6), (2, 3), ABSENT), ((2, 3, 2, 3), (2, 3), ABSENT), ((4, 4), (4,), ABSENT),
            ((4, 4), (4,), (0,)), ((2, 6, 3), (2, 6), (1,)), ((3, 2, 6), (3, 2), (0, 2)),
            ((2, 3), (2,), ABSENT), ((1, 1), (1,), ABSENT), ((0, 0), (0,), ABSENT),
            ((2, 2, 4), (4,), (0, 1)), ((4, 4), (4,), (5,)), ((4, 4), (4,), 0),
            ((4, 4), (2, 2), ABSENT), ((4, 4), (3,), ABSENT), ((4, 4), (), ABSENT),
        ]
    )  # fmt: skip
    x = matrix(rng, shape, ["any", "any", "regular", "zero"])
    return {"a": given(rng, x), "b": given(rng, rng.numbers(right, dtype_of(rng))), "axes": axes}


def draw_outer(rng):
    shapes = [(3,), (2,), (0,), (1,), (2, 2), ()]
    a, b = [rng.numbers(rng.mostly((3,), *shapes), dtype_of(rng)) for _ in range(2)]
    return {"x1": given(rng, a), "x2": given(rng, b)}


def draw_cross(rng):
    shape = rng.choice([(3,), (3,), (2, 3), (4, 2, 3), (0, 3), (2,), (3, 2), ()])
    other = rng.mostly(shape, (3,), (1, 3), (2,), share=0.7)
    axis = rng.mostly(ABSENT, 0, -1, 1, 2, -3, share=0.6)
    a, b = rng.numbers(shape, dtype_of(rng)), rng.numbers(other, dtype_of(rng))
    return {"x1": given(rng, a), "x2": given(rng, b), "axis": axis}


OFFSETS = [0, 1, -1, 2, 7, -7, np.int8(1), 0.5]


def draw_diagonal(rng):
    return {"x": given(rng, oblong(rng)), "offset": rng.mostly(ABSENT, *OFFSETS, share=0.4)}


def draw_trace(rng):
    dtype = rng.mostly(ABSENT, None, "float32", float, "complex128", "int8", "x", share=0.6)
    return draw_diagonal(rng) | {"dtype": dtype}


def draw_products(rng):
    m, k, n = [rng.choice(EXTENTS) for _ in range(3)]
    a, b = matrix(rng, (*stack(rng), m, k)), matrix(rng, (*rng.mostly((), *STACKS), k, n))
    if rng.random() < 0.2:
        a, b = rng.choice(
            [(a[..., 0, :] if m and a.ndim > 1 else a, b), (a, rng.numbers((k,), "float64"))]
        )
    return {"x1": given(rng, np.asarray(a)), "x2": given(rng, b)}


def draw_vecdot(rng):
    a = norm_operand(rng)
    b = rng.numbers(rng.mostly(a.shape, a.shape[-1:], a.shape[1:], (3,), share=0.7), dtype_of(rng))
    axis = rng.mostly(ABSENT, one_axis(rng, a.ndim), share=0.6)
    return {"x1": given(rng, a), "x2": given(rng, b), "axis": axis}


def draw_tensordot(rng):
    a = norm_operand(rng)
    b = rng.numbers(rng.mostly(a.shape[::-1], a.shape, (2, 3), share=0.6), dtype_of(rng))
    axes = rng.mostly(ABSENT, 0, 1, ((0,), (0,)), ([-1], [0]), ((0, 1), (1, 0)), 3, (0, 1), "x")
    return {"x1": given(rng, a), "x2": given(rng, b), "axes": axes}


def draw_transpose(rng):
    return {"x": given(rng, oblong(rng))}


def powers(got, want, call):
    """Of matrices that overflow, whatever becomes of the infinities in further products."""
    kinds_of(got, want)
    values = np.asarray(want)
    if values.dtype.kind not in "fc" or np.isfinite(values).all():
        by_condition()(got, want, call)


def chained(got, want, call):
    """Of products in another order: beside the lengths of all factors, in the type of the least
    precise one, in which a part of the products is computed.
    """
    kinds_of(got, want)
    arrays = [np.asarray(x.of(np)) for x in call.chosen["arrays"]]
    floats = [a.dtype for a in arrays if a.dtype.kind in "fc"]
    if not floats:
        identical(got, want)
        return
    most = np.prod([np.linalg.norm(a.astype(np.result_type(a, float))) for a in arrays])
    unit = float(max([np.finfo(t).eps for t in floats]))
    distance = np.abs(np.asarray(got, want.dtype) - want).max(initial=0)
    assert distance <= 100 * unit * most, f"{got}; NumPy: {want}"


ROUNDED = within(200)
FUNCTIONS = {
    "cholesky": (draw_cholesky, of_library(by_condition())),
    "cond": (draw_cond, of_library(condition)),
    "cross": (draw_cross, ROUNDED),
    "det": (draw_square, of_library(of_products)),
    "diagonal": (draw_diagonal, lambda got, want, call: identical(got, want)),
    "eig": (draw_square, of_library(eigenvectors)),
    "eigh": (draw_eigh, of_library(eigenvectors)),
    "eigvals": (draw_square, of_library(eigenvalues)),
    "eigvalsh": (draw_eigh, of_library(within(100))),
    "inv": (draw_square, of_library(by_condition())),
    "lstsq": (draw_lstsq, of_library(least_squares)),
    "matmul": (draw_products, ROUNDED),
    "matrix_norm": (draw_matrix_norm, ROUNDED),
    "matrix_power": (draw_power, powers),
    "matrix_rank": (draw_rank, lambda got, want, call: identical(got, want)),
    "matrix_transpose": (draw_transpose, lambda got, want, call: identical(got, want)),
    "multi_dot": (draw_multi_dot, chained),
    "norm": (draw_norm, ROUNDED),
    "outer": (draw_outer, ROUNDED),
    "pinv": (draw_pinv, inverses),
    "qr": (draw_qr, of_library(factors)),
    "slogdet": (draw_square, of_library(sign_and_size)),
    "solve": (draw_solve, of_library(by_condition())),
    "svd": (draw_svd, of_library(singular_values)),
    "svdvals": (lambda rng: {"x": given(rng, oblong(rng))}, of_library(singular_values)),
    "tensordot": (draw_tensordot, ROUNDED),
    "tensorinv": (draw_tensorinv, lambda got, want, call: kinds_of(got, want)),
    "tensorsolve": (draw_tensorsolve, lambda got, want, call: kinds_of(got, want)),
    "trace": (draw_trace, ROUNDED),
    "vecdot": (draw_vecdot, ROUNDED),
    "vector_norm": (draw_norm, ROUNDED),
}
NAMES = sorted(f"linalg.{name}" for name in FUNCTIONS)


SEVERAL = (
    "cond",
    "cross",
    "norm",
    "solve",
    "trace",
    "vector_norm",
)  # which of several mistakes is named differs
# What differs on purpose, by words of our error or of NumPy's.
DECIDED = {
    "cond": ("SVD did not converge",),  # of an inverse that is none
    "eig": ("Array must not contain infs or NaNs",),  # of half floats, which are refused as well
    "eigvals": ("Array must not contain infs or NaNs",),
    "norm": ("axis is not an integer",),  # NumPy cuts floats
    "tensorinv": ("reshape() takes exactly 1 argument", "Singular matrix"),
    "tensorsolve": ("Singular matrix",),
    "vector_norm": ("axis is not an integer",),
    "eigh": ("unknown triangle",),  # NumPy: what has no `upper` is an AttributeError
    "eigvalsh": ("unknown triangle",),
    "lstsq": ("several rcond",),  # of a list NumPy makes a stack of results
    "multi_dot": ("output array is not acceptable",),  # ours takes any layout
    "pinv": ("not inexact",),  # NumPy has no limit for integers
    "tensordot": ("tuple index out of range",),
}


def near_singular(a):
    """Whether rounding decides what an inverse of one of the matrices is."""
    square = a.ndim > 1 and a.shape[-1] == a.shape[-2] and a.dtype.kind in "fciub"
    return square and a.size and growth(a.astype(np.result_type(a, float)), float) == np.inf


def call(name, rng):
    name = name.removeprefix("linalg.")
    draw, compare = FUNCTIONS[name]
    functions = getattr(nb.linalg, name), getattr(np.linalg, name)
    made = Call(functions, draw(rng), compare, rng, on_gpu=stands_in(rng))
    made.decided, made.several = DECIDED.get(name, ()), name in SEVERAL
    a = made.chosen.get("a")
    if isinstance(a, Given) and not exact(made) and near_singular(np.asarray(a.of(np))):
        made.decided += ("Singular matrix",)
    return made

"""NumPy's functions inside compiled functions, those that Numba lists, against NumPy."""

import linecache

import numpy as np
import pytest
from jit_check import check
from numbus import njit

A = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6])
B = np.array([2.0, 7.0, 1.0, 8.0, 2.0, 8.0])
C = A + 1j * B
F = A.astype(np.float32)
I = np.array([3, 1, 4, 1, 5])
M = np.arange(12.0).reshape(3, 4) + 1
N = np.array([1.0, np.nan, 3.0, np.inf])
NAMES = {"A": A, "B": B, "C": C, "F": F, "I": I, "M": M, "N": N}

CASES = """
np.append(M, M, axis=0), np.append(M, M[:, :1], axis=1)
np.argpartition(A, 2)[2]
np.array_split(A, 4), np.array_split(M, 2), np.array_split(A, np.array([1, 3]))
np.split(A, 3), np.split(A, (1, 3)), np.hsplit(M, 2), np.hsplit(A, 2), np.vsplit(M, 3)
np.dsplit(M.reshape(1, 3, 4), 2)
np.asfortranarray(M), np.asfortranarray(M).flags.f_contiguous
np.atleast_2d(A), np.atleast_2d(2.0), np.atleast_2d(M), np.atleast_3d(A), np.atleast_3d(M)
np.average(A, None, B), np.average(A, weights=B)
np.bartlett(5), np.blackman(6), np.hamming(5), np.hanning(1), np.kaiser(5, 14.0), np.i0(A)
np.broadcast_arrays(A, A.reshape(-1, 1))[1]
np.broadcast_shapes((3, 1), (4,)), np.broadcast_shapes((1,), (2, 3))
np.delete(A, 2), np.delete(A, np.array([1, -1])), np.delete(A, slice(1, 3))
np.insert(A, 2, 7.0), np.insert(I, -1, 7)
np.diagflat(A, 1), np.dstack((A, B)), np.dstack((M, M))
np.extract(A > 2, A), np.take(A, np.array([1, -1])), A.take(1), np.take(M, I[:2] - 1, axis=1)
np.take_along_axis(M, np.argsort(-M, axis=1), axis=1)
np.select([A < 2, A > 3], [A, A * 2], 0.0), np.select((A < 2,), (A,), -1.0)
np.resize(A, (3, 3)), np.trim_zeros(np.array([0.0, 1.0, 0.0, 2.0, 0.0])), np.pad(A, 2), np.pad(M, 1)
np.indices((2, 3)), np.indices((4,))
np.tril_indices(3), np.triu_indices(3, 1), np.tril_indices_from(M), np.triu_indices_from(M, -1)
np.geomspace(1.0, 1000.0, 4), np.logspace(0.0, 2.0, 3), np.logspace(0.0, 2.0, 4, endpoint=False)
np.lib.stride_tricks.sliding_window_view(A, 3)
np.intersect1d(I, np.array([1, 3])), np.union1d(I, np.array([1, 9])), np.setdiff1d(I, np.array([3]))
np.setxor1d(I, np.array([1, 3, 8]))
np.iscomplex(C), np.isreal(C), np.isreal(A), np.iscomplexobj(C), np.iscomplexobj(A), np.isrealobj(F)
np.isneginf(-N), np.isposinf(N), np.isscalar(3.0), np.isscalar(A)
np.nan_to_num(N), np.nan_to_num(F), np.nan_to_num(N, nan=-1.0)
np.nancumsum(N[:3]), np.nancumprod(N[:3]), np.nanpercentile(N[:3], 30), np.nanquantile(N[:3], 0.3)
np.rot90(M), np.rot90(M, 2), np.rot90(M, -1), np.rot90(M, 4)
np.sinc(A), np.sinc(0.0), np.sinc(F), np.angle(C), np.angle(C[0], True), np.fix(-A)
np.unwrap(A * 3), np.unwrap(np.array([0.0, 3.5, 7.0, -2.0])), np.vander(A), np.vander(I, 3)
np.gcd(I, 6), np.lcm(I, I[::-1]), np.gcd(12, 18), np.ldexp(A, 3), np.nextafter(A, B)
np.modf(N), np.modf(-N), np.modf(F), np.modf(I), np.modf(I.astype(np.int8))
np.modf(-M[::2, ::-1] / 8)
np.modf(2.5), np.modf(-np.inf), np.modf(-0.0), np.modf(np.float32(-1.25)), np.frexp(I), np.frexp(F)
np.modf(-A), np.divmod(-A, B), np.divmod(I, 2), np.frexp(A)[0]
np.polynomial.polynomial.polyadd(A, B[:3]), np.polynomial.polynomial.polysub(A[:2], B)
np.polynomial.polynomial.polymul(A, B), np.polynomial.polynomial.polyval(2.0, A)
np.polynomial.polynomial.polyval(B, A), np.polynomial.polynomial.polyint(A)
np.polynomial.polynomial.polydiv(A, B[:3]), np.polynomial.polynomial.polydiv(A[:2], B)
"""


@pytest.mark.parametrize("expression", CASES.strip().split("\n"))
def test_as_numpy(expression):
    names = [n for n in NAMES if any(n == w for w in _words(expression))]
    text = f"def f({', '.join(names)}):\n    return ({expression},)\n"
    file = f"<{expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    made = {"np": np}
    exec(compile(text, file, "exec"), made)
    check(made["f"], *[NAMES[n] for n in names])


def _words(text):
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def test_mistakes():
    with pytest.raises(ValueError, match="no equal division"):
        njit(lambda a: np.split(a, 4))(A)
    with pytest.raises(IndexError, match="index out of bounds; got 9"):
        njit(lambda a: np.insert(a, 9, 0.0))(A)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        njit(lambda: np.broadcast_shapes((2,), (3,)))()
    with pytest.raises(ValueError, match="cannot broadcast an extent of 6 to 4"):
        njit(lambda a: np.broadcast_to(a, (2, 4)))(A)


def test_sources_of_our_own_survive_a_cleared_cache():
    from numbus import cuda

    @cuda.jit
    def kernel(out):
        v = cuda.int16x3(1, 2, 3)
        out[0] = v.x + v.z

    lines = linecache.getlines(__file__)
    linecache.clearcache()
    assert lines
    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 4

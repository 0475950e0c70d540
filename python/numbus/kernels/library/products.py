"""Products of vectors and matrices."""

import numpy as np

from .._library import known, not_yet


@known("np.dot", "np.matmul")
def dot(a, b):
    """i-k-j loops over blocks that stay in the cache, their inner loop along rows."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return np.asarray(a) * np.asarray(b)
    if a.ndim == 1 and b.ndim == 1:
        if a.shape[0] != b.shape[0]:
            raise ValueError(f"shapes not aligned: {a.shape[0]} and {b.shape[0]}")
        s = np.result_type(a, b).type(0)
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        return s
    if a.ndim == 2 and b.ndim == 1:
        if a.shape[1] != b.shape[0]:
            raise ValueError(f"shapes not aligned: {a.shape[1]} and {b.shape[0]}")
        out = np.zeros(a.shape[0], np.result_type(a, b))
        for i in range(a.shape[0]):
            t = np.result_type(a, b).type(0)
            for k in range(a.shape[1]):
                t += a[i, k] * b[k]
            out[i] = t
        return out
    if a.ndim == 1 and b.ndim == 2:
        if a.shape[0] != b.shape[0]:
            raise ValueError(f"shapes not aligned: {a.shape[0]} and {b.shape[0]}")
        out = np.zeros(b.shape[1], np.result_type(a, b))
        for k in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[j] += a[k] * b[k, j]
        return out
    if a.ndim == 2 and b.ndim == 2:
        return product(a, np.ascontiguousarray(b))
    not_yet("products of arrays of more than two dimensions")


def product(a, b):
    """Of two matrices, four rows of b at a time."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"shapes not aligned: {a.shape[1]} and {b.shape[0]}")
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    out = np.zeros((rows, columns), np.result_type(a, b))
    for k0 in range(0, inner, 64):
        k1 = min(k0 + 64, inner)
        for j0 in range(0, columns, 512):
            j1 = min(j0 + 512, columns)
            for i in range(rows):
                k = k0
                while k + 4 <= k1:
                    s0, s1, s2, s3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
                    for j in range(j0, j1):
                        out[i, j] += (s0 * b[k, j] + s1 * b[k + 1, j]) + (
                            s2 * b[k + 2, j] + s3 * b[k + 3, j]
                        )
                    k += 4
                while k < k1:
                    s = a[i, k]
                    for j in range(j0, j1):
                        out[i, j] += s * b[k, j]
                    k += 1
    return out


@known("np.vdot")
def vdot(a, b):
    """The sum of conj(a) * b."""
    if np.result_type(a, np.complex64) == np.result_type(a):
        return dot(np.conj(a.ravel()), b.ravel())
    return dot(a.ravel(), b.ravel())


@known("np.inner")
def inner(a, b):
    """dot() along the last axes."""
    if b.ndim == 2:
        return dot(a, b.T)
    return dot(a, b)

"""Products of vectors and matrices."""

import numpy as np

from ...core.dtypes import is_half
from .._library import known


def refuse(first, second):
    """Raises for inner extents that differ."""
    if first != second:
        raise ValueError(f"shapes not aligned: {first} and {second}")


@known("routines.inner")
def inner(a, b):
    """The sums of products along the last axes."""
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("an operand of a product has no axes")
    refuse(a.shape[a.ndim - 1], b.shape[b.ndim - 1])
    t = np.result_type(a, b)
    if is_half(t):  # summed in float32, rounded once
        sums = inner(a.astype(np.float32), b.astype(np.float32))
        return t.type(sums) if a.ndim == 1 and b.ndim == 1 else sums.astype(t)
    if a.ndim == 1 and b.ndim == 1:
        s = t.type(0)
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        return s
    products = a * b
    return np.any(products, axis=-1) if t.kind == "b" else np.sum(products, axis=-1, dtype=t)


@known("routines.product")
def product(a, b):
    """Over the last axis of `a` and the last but one of `b`, stacks broadcast."""
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("an operand of a product has no axes")
    if a.ndim == 1 and b.ndim == 1:
        return inner(a, b)
    if is_half(np.result_type(a, b)):  # summed in float32, rounded once
        single = product(a.astype(np.float32), b.astype(np.float32))
        return single.astype(np.result_type(a, b))
    if a.ndim == 2 and b.ndim == 1:
        refuse(a.shape[1], b.shape[0])
        out = np.zeros(a.shape[0], np.result_type(a, b))
        for i in range(a.shape[0]):
            t = np.result_type(a, b).type(0)
            for k in range(a.shape[1]):
                t += a[i, k] * b[k]
            out[i] = t
        return out
    if a.ndim == 1 and b.ndim == 2:
        refuse(a.shape[0], b.shape[0])
        out = np.zeros(b.shape[1], np.result_type(a, b))
        for k in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[j] += a[k] * b[k, j]
        return out
    if a.ndim == 2 and b.ndim == 2:
        return of_matrices(a, np.ascontiguousarray(b))
    if a.ndim == 1:
        return stack(a.reshape((1, a.shape[0])), b)[..., 0, :]
    if b.ndim == 1:
        return stack(a, b.reshape((b.shape[0], 1)))[..., 0]
    return stack(a, b)


def count(extents):
    """The number of elements of a shape."""
    n = 1
    for extent in extents:
        n *= extent
    return n


def stack(a, b):
    n, k, m = a.shape[a.ndim - 2], a.shape[a.ndim - 1], b.shape[b.ndim - 1]
    refuse(k, b.shape[b.ndim - 2])
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    many = count(outer)
    first = np.broadcast_to(a, outer + (n, k)).copy().reshape((many, n, k))
    second = np.broadcast_to(b, outer + (k, m)).copy().reshape((many, k, m))
    out = np.empty((many, n, m), np.result_type(a, b))
    for i in range(many):
        out[i] = of_matrices(first[i], second[i])
    return out.reshape(outer + (n, m))


def of_matrices(a, b):
    """i-k-j loops over blocks that stay in the cache, their inner loop along rows; four rows of `b`
    at a time.
    """
    refuse(a.shape[1], b.shape[0])
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

"""Products of vectors and matrices."""

import numpy as np

from .._library import known


@known("np.dot")
def dot(a, b):
    """i-k-j loops over blocks that stay in the cache, their inner loop along rows."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return np.asarray(a) * np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
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
    k = a.shape[a.ndim - 1]
    if b.ndim == 1:
        return dot(a.reshape((a.size // max(k, 1), k)), b).reshape(a.shape[:-1])
    if b.shape[b.ndim - 2] != k:
        raise ValueError(f"shapes not aligned: {k} and {b.shape[b.ndim - 2]}")
    inner = np.moveaxis(b, -2, 0)
    extents = a.shape[:-1] + inner.shape[1:]
    rows = a.reshape((_count(a.shape[:-1]), k))
    return product(rows, inner.copy().reshape((k, _count(inner.shape[1:])))).reshape(extents)


def _count(extents):
    """The number of elements of a shape."""
    n = 1
    for extent in extents:
        n *= extent
    return n


@known("np.matmul")
def matmul(a, b):
    """dot() of the last two axes, over stacks that broadcast."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand has no axes")
    if a.ndim <= 2 and b.ndim <= 2:
        return dot(a, b)
    if a.ndim == 1:
        return _stack(a.reshape((1, a.shape[0])), b)[..., 0, :]
    if b.ndim == 1:
        return _stack(a, b.reshape((b.shape[0], 1)))[..., 0]
    return _stack(a, b)


def _stack(a, b):
    n, k, m = a.shape[a.ndim - 2], a.shape[a.ndim - 1], b.shape[b.ndim - 1]
    if b.shape[b.ndim - 2] != k:
        raise ValueError(f"shapes not aligned: {k} and {b.shape[b.ndim - 2]}")
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    count = _count(outer)
    first = np.broadcast_to(a, outer + (n, k)).copy().reshape((count, n, k))
    second = np.broadcast_to(b, outer + (k, m)).copy().reshape((count, k, m))
    out = np.empty((count, n, m), np.result_type(a, b))
    for i in range(count):
        out[i] = product(first[i], second[i])
    return out.reshape(outer + (n, m))


@known("np.vecdot")
def vecdot(a, b):
    """Sums of products along the last axes, the first operand conjugated."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.ndim == 0 or b.ndim == 0:
        raise ValueError("vecdot: an operand has no axes")
    if a.shape[a.ndim - 1] != b.shape[b.ndim - 1]:
        raise ValueError(f"extents differ: {a.shape[a.ndim - 1]} and {b.shape[b.ndim - 1]}")
    t = np.result_type(a, b)
    products = np.conj(a) * b
    return np.any(products, axis=-1) if t.kind == "b" else np.sum(products, axis=-1, dtype=t)


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

"""Shapes, views, types, indices, printing: what tutorials for beginners show."""

import numpy as np

print("-- creating")
print(np.array([1, 2, 3]), np.array([1, 2, 3.0]), np.array([[1, 2], [3, 4]], dtype=complex))
print(np.arange(0, 1, 0.25), np.linspace(0, 2, 5), np.logspace(0, 3, 4), np.geomspace(1, 256, 5))
print(
    np.full((2, 2), 7), np.identity(2), np.empty((0, 3)), np.zeros(3, bool), np.ones_like([1.5, 2])
)
print(np.fromfunction(lambda i, j: i + j, (2, 3)), np.fromiter((k * k for k in range(4)), int))
print(np.array(["ab", "cde"]), np.array([True, False]), np.array([None, 1]), np.array(3.5))
print(
    repr(np.arange(3)),
    repr(np.float32([1.5])),
    repr(np.array([[]])),
    repr(np.int64(3)),
    repr(np.float32(0.1)),
)

print("-- looking at")
a = np.arange(24).reshape(2, 3, 4)
print(a, a.shape, a.ndim, a.size, a.dtype, a.itemsize, a.nbytes, len(a), a.strides)
print(a.flags)
print(
    type(a), type(a[0, 0, 0]), type(a.sum()), isinstance(a, np.ndarray), a.dtype.name, a.dtype.kind
)
print(np.arange(2000), np.linspace(0, 1, 1001))
print(np.array([1e-10, 1, 1e10]), np.array([0.1, 123456789.0]), np.array([np.nan, -np.inf, 1]))
np.set_printoptions(precision=2, suppress=True)
print(np.array([1e-10, np.pi, 1234.5678]), np.array([[1.5, np.nan], [2, 3]]))
np.set_printoptions(precision=8, suppress=False)
print(np.array2string(np.arange(6) / 7, precision=3, separator=", "), np.array_str(np.arange(3)))
print(
    f"{np.float64(1 / 3):.3f} {np.int32(7):04d} {a[0, 0]!s} {np.pi:>10.4f}", format(a.mean(), ".2f")
)

print("-- indexing")
print(a[1], a[:, 1], a[..., -1], a[1, 2, 3], a[-1][0], a[0, 1:, ::2], a[:, [0, 2], 1])
print(
    a[a % 5 == 0],
    a[[0, 1], [1, 2]],
    a[np.array([[0], [1]]), [0, 2], 1],
    a[None].shape,
    a[0, np.newaxis].shape,
)
b = np.arange(10)
b[2:5] = 0
b[b > 7] *= -1
b[[0, 0, 1]] += 1
print(b, b[b.nonzero()], b[-3:], b[10:], b[slice(1, 4)], b.take([1, 3]), b.item(2), b[5].item())
view, copy = b[::2], b[::2].copy()
view[0] = 99
print(
    b[0],
    copy[0],
    view.base is b,
    copy.base is None,
    np.shares_memory(view, b),
    np.may_share_memory(copy, b),
)
grid = np.ix_([0, 1], [2, 0], [3])
print(a[grid].ravel(), np.indices((2, 2)), np.take_along_axis(b[None], b[None].argsort(1), 1))
for bad in (
    lambda: b[20],
    lambda: a[0, 5],
    lambda: b[1.5],
    lambda: np.zeros(3) + np.zeros(4),
    lambda: a.reshape(5, 5),
):
    try:
        bad()
    except (IndexError, ValueError) as error:
        print(type(error).__name__)

print("-- reshaping and joining")
print(
    a.reshape(4, -1),
    a.ravel()[:5],
    a.T.shape,
    a.transpose(1, 0, 2).shape,
    a.swapaxes(0, 2).shape,
    a.flatten().base,
)
print(
    np.squeeze(np.ones((1, 3, 1))).shape,
    np.expand_dims(b, 1).shape,
    np.atleast_2d(b).shape,
    np.moveaxis(a, 0, -1).shape,
)
c, d = np.array([1, 2]), np.array([3, 4])
print(
    np.concatenate([c, d]),
    np.vstack((c, d)),
    np.hstack((c, d)),
    np.column_stack((c, d)),
    np.r_[c, 0, d],
    np.c_[c, d],
)
print(
    np.stack((c, d), axis=1),
    np.append(c, [5]),
    np.insert(c, 1, 9),
    np.delete(b, [0, 2]),
    np.split(b, [3, 5]),
    np.hsplit(a[0], 2),
)
print(
    np.resize(c, (2, 3)),
    np.repeat(c, [1, 3]),
    np.flip(a[0], axis=1),
    np.roll(b, 2),
    np.trim_zeros([0, 0, 1, 2, 0]),
)

print("-- types")
print(
    np.array([1.7, -1.7]).astype(int),
    np.array([0, 1, 2]).astype(bool),
    np.array([1, 2]) / 2,
    np.array([7, -7]) // 2,
    np.array([7, -7]) % 3,
)
print(
    (np.array([1], np.int8) + np.array([1], np.uint8)).dtype,
    (np.float32(1) + 1.0).dtype,
    (np.arange(2) + 1j).dtype,
    np.result_type(np.int32, np.float32),
)
print(
    np.array([250], np.uint8) + np.array([10], np.uint8),
    np.int32(5) / 2,
    np.int64(7) // 2,
    np.float32(0.1) * 3,
    2 ** np.arange(4),
)
print(
    np.can_cast(np.float64, np.float32),
    np.issubdtype(np.int32, np.integer),
    np.array([1, 2]).dtype == int,
    np.dtype("f4"),
    np.array(5).astype(str),
)
print(
    np.array([1.234, 5.678]).round(1),
    np.floor(-1.5),
    np.ceil([1.2, -1.2]),
    np.trunc(-1.7),
    np.rint([0.5, 1.5, 2.5]),
    np.fix(-2.7),
)

print("-- ufuncs and reductions")
e = np.array([[3, 1, 2], [9, 7, 8]])
print(
    e.sum(),
    e.sum(axis=0),
    e.sum(1),
    e.min(),
    e.max(axis=1),
    e.mean(axis=0),
    e.cumsum(),
    e.cumprod(1),
    e.prod(),
    e.std(),
    e.argmax(axis=1),
)
print(
    np.sqrt(e),
    np.exp(e[0]),
    np.log1p(e[0]),
    np.power(e, 2),
    np.maximum(e, 5),
    np.clip(e, 2, 8),
    np.sign([-2, 0, 3]),
    np.abs([-1.5, 2]),
)
print(
    np.any(e > 8),
    np.all(e > 0, axis=0),
    np.logical_and(e > 1, e < 9),
    np.where(e > 5, e, -e),
    np.add.reduce(e),
    np.multiply.outer([1, 2], [1, 2, 3]),
)
e.sort(axis=1)
print(
    e,
    np.sort(e, axis=None)[::-1],
    np.unique([3, 1, 3]),
    e.tolist(),
    list(e[0]),
    [int(v) for v in e[1]],
    sum(e),
    max(e[0]),
)
for row in e:
    print(row, end=";")
print()
for (i, j), value in np.ndenumerate(e):
    print(i, j, value, end=" ")
print(
    np.vectorize(lambda p, q: p if p > q else q)([1, 5], [4, 2]),
    np.apply_along_axis(sum, 0, e),
    np.piecewise([-1.0, 2], [np.array([True, False])], [0, 1]),
)

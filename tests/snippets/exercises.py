"""Exercises such as people learn NumPy with: making, indexing and looking at arrays."""

import numpy as np

print("-- zeros, sizes, reversal")
z = np.zeros((10, 10))
print(z.size, z.itemsize, z.size * z.itemsize, z.nbytes)
v = np.arange(10, 50)
print(v[::-1], v.dtype, v.strides)
v[4] = 1
print(repr(v))

print("-- borders and boards")
frame = np.ones((6, 6), dtype=int)
frame[1:-1, 1:-1] = 0
print(frame)
print(np.pad(np.ones((3, 3)), pad_width=1, mode="constant", constant_values=0))
board = np.zeros((8, 8), dtype=np.uint8)
board[1::2, ::2] = 1
board[::2, 1::2] = 1
print(board)
print(np.tile(np.array([[0, 1], [1, 0]]), (2, 3)))
print(np.diag(1 + np.arange(4), k=-1))

print("-- odd numbers")
print(0 * np.nan, np.nan == np.nan, np.inf > np.nan, np.nan - np.nan, np.nan in set([np.nan]))
print(0.3 == 3 * 0.1, np.isclose(0.3, 3 * 0.1))
with np.errstate(all="ignore"):
    print(np.array(0) / np.array(0), np.array(0) // np.array(0))
    print(np.array([np.nan]).astype(int).astype(float) < 0)
print(np.sqrt(-1 + 0j), np.emath.sqrt(-1))
print(np.unravel_index(99, (6, 7, 8)))

print("-- indices of what is not zero, and of extremes")
print(np.nonzero([1, 2, 0, 0, 4, 0]))
a = np.array([3, 9, 2, 9, 1])
print(a.argmax(), a.argmin(), np.argsort(a, kind="stable"), np.flatnonzero(a == a.max()))
a[a.argmax()] = 0
print(a, np.argwhere(a > 1).ravel())
x = np.linspace(0, 1, 11)
print(x[np.abs(x - 0.43).argmin()], x[1:-1])

print("-- structured records")
people = np.zeros(3, dtype=[("name", "U8"), ("age", int), ("at", [("x", float), ("y", float)])])
people["name"] = ["Ada", "Bo", "Cy"]
people["age"] = [36, 9, 71]
people["at"]["x"] = np.arange(3) / 2
print(people)
print(people[people["age"] > 30]["name"], people["at"]["x"].mean())
print(np.sort(people, order="age")["name"], people.dtype.names)

print("-- limits of types")
for kind in (np.int8, np.int32, np.int64):
    print(np.iinfo(kind).min, np.iinfo(kind).max)
for kind in (np.float32, np.float64):
    print(np.finfo(kind).min, np.finfo(kind).max, np.finfo(kind).eps)

print("-- set operations and counting")
p, q = np.array([1, 2, 3, 2, 7]), np.array([2, 3, 5])
print(np.intersect1d(p, q), np.union1d(p, q), np.setdiff1d(p, q), np.setxor1d(p, q))
print(np.isin(p, q), np.unique(p, return_counts=True))
values, where = np.unique(p, return_inverse=True)
print(values[where], np.bincount(p), np.bincount([0, 1, 1], weights=[0.5, 1, 2]))

print("-- subtracting means, normalising rows, ranking")
m = np.arange(12, dtype=float).reshape(3, 4) ** 2
print(m - m.mean(axis=1, keepdims=True))
print(m / np.linalg.norm(m, axis=1)[:, None])
print(m[m[:, 1].argsort()[::-1]])
print((m - m.min()) / (m.max() - m.min()))
print(np.argpartition(np.array([5, 1, 4, 2]), 1)[:1])

print("-- broadcasting tricks")
i, j = np.ogrid[0:4, 0:3]
print(i * 10 + j)
print(np.subtract.outer([1, 2, 4], [1, 3]), np.add.accumulate([1, 2, 3]))
print(1.0 / (np.arange(3)[:, None] + np.arange(3) + 1))
print(np.allclose(np.dot(np.eye(3), m), m), np.array_equal(m, m.copy()))
s = np.array([1, 2, 3, 4, 5])
spaced = np.zeros(len(s) + (len(s) - 1) * 3, dtype=s.dtype)
spaced[::4] = s
print(spaced)

print("-- swapping rows, moving windows, n largest")
r = np.arange(25).reshape(5, 5)
r[[0, 1]] = r[[1, 0]]
print(r)
w = np.lib.stride_tricks.sliding_window_view(np.arange(8), 4)
print(w, w.mean(axis=-1))
print(np.convolve([1, 2, 3, 4, 5], np.ones(3) / 3, mode="valid"))
big = np.array([17, 3, 99, 45, 8, 62])
print(big[np.argsort(big)[-3:]], np.sort(np.partition(big, -3)[-3:]))
print(np.all(r == r[0], axis=0), r.cumsum(axis=0)[-1], np.triu(r), r.trace())

print("-- text and buffers")
print(np.array("1 2 3 5".split(), dtype=float))
print(np.frombuffer(b"\x01\x00\x02\x00", dtype="<u2"), np.arange(3, dtype=np.int32).tobytes())
print(((np.array([5, 9])[:, None] & (1 << np.arange(8))) != 0).astype(int)[:, ::-1])
print(np.unpackbits(np.array([5, 9], dtype=np.uint8)[:, np.newaxis], axis=1))

"""Linear algebra and tensors."""

import numpy as np

print("-- systems")
A = np.array([[4.0, -2, 1], [-2, 4, -2], [1, -2, 4]])
b = np.array([11.0, -16, 17])
x = np.linalg.solve(A, b)
print(x.round(12), A @ x, np.linalg.det(A).round(10), np.linalg.inv(A).round(10))
print(
    np.allclose(A @ np.linalg.inv(A), np.eye(3)),
    np.linalg.matrix_rank(A),
    np.trace(A),
    np.linalg.cond(A).round(8),
)
try:
    np.linalg.inv(np.ones((2, 2)))
except np.linalg.LinAlgError as error:
    print("error:", error)

print("-- factorisations")
L = np.linalg.cholesky(A)
q, r = np.linalg.qr(A)
u, s, vt = np.linalg.svd(A)
print(
    L.round(10), np.allclose(L @ L.T, A), np.abs(r).round(8), s.round(8), np.allclose(u * s @ vt, A)
)
values, vectors = np.linalg.eig(np.array([[2.0, 1], [1, 3]]))
print(
    np.sort(values).round(10),
    np.allclose(vectors @ np.diag(values) @ np.linalg.inv(vectors), [[2, 1], [1, 3]]),
)

print("-- elimination by hand")
M = np.hstack([A, b[:, None]])
for i in range(3):
    M[i] /= M[i, i]
    for j in range(3):
        if j != i:
            M[j] -= M[j, i] * M[i]
print(M.round(10))

print("-- Gram and Schmidt, power iteration, Jacobi")
basis = []
for v in A:
    w = v - sum(np.dot(v, e) * e for e in basis)
    basis.append(w / np.linalg.norm(w))
Q = np.array(basis)
print((Q @ Q.T).round(10))
v = np.ones(3)
for _ in range(100):
    v = A @ v
    v /= np.linalg.norm(v)
print((v @ A @ v).round(10), v.round(10))
D = np.diag(A)
y = np.zeros(3)
for _ in range(60):
    y = (b - (A - np.diagflat(D)) @ y) / D
print(y.round(8))

print("-- products")
m, n = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
print(
    m @ n,
    np.dot(m, n).sum(),
    np.inner(m, m),
    np.outer([1, 2], [3, 4]),
    np.kron(np.eye(2, dtype=int), m),
)
print(np.vdot([1 + 2j, 3], [2, 1j]), np.tensordot(m, n, axes=1), np.einsum("ij,jk->ki", m, n))
print(
    np.einsum("ii", A),
    np.einsum("ij->j", m),
    np.einsum("i,j->ij", [1, 2], [3, 4]),
    np.einsum("bij,bjk->bik", np.ones((2, 2, 3)), np.ones((2, 3, 1))).ravel(),
)
print(np.linalg.multi_dot([m, n, n.T]), np.matmul(np.arange(8).reshape(2, 2, 2), [1, 1]))

print("-- norms")
w = np.array([3.0, -4, 12])
print(
    np.linalg.norm(w),
    np.linalg.norm(w, 1),
    np.linalg.norm(w, np.inf),
    np.linalg.norm(w, 0),
    np.linalg.norm(A, "fro"),
    np.linalg.norm(A, 2).round(10),
    np.linalg.norm(A, axis=0),
)

print("-- distances and angles")
p = np.array([[0.0, 0], [3, 4], [6, 8], [-3, 4]])
print(np.sqrt(((p[:, None] - p) ** 2).sum(-1)), np.abs(p[:, None] - p).sum(-1))
cosine = p[1:] @ p[1:].T / np.outer(np.linalg.norm(p[1:], axis=1), np.linalg.norm(p[1:], axis=1))
print(cosine, np.degrees(np.arccos(np.clip(cosine, -1, 1))).round(8))
area = 0.5 * abs(np.dot(p[:, 0], np.roll(p[:, 1], 1)) - np.dot(p[:, 1], np.roll(p[:, 0], 1)))
print(area, p.mean(axis=0))

print("-- graphs")
edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
adjacent = np.zeros((4, 4), dtype=int)
adjacent[edges[:, 0], edges[:, 1]] = 1
both = adjacent | adjacent.T
print(both, both.sum(0), np.linalg.matrix_power(both, 3).trace() // 6)
ranks = np.full(4, 0.25)
links = adjacent / adjacent.sum(axis=1, keepdims=True)
for _ in range(50):
    ranks = 0.15 / 4 + 0.85 * ranks @ links
print(ranks, ranks.sum())
far = np.where(both == 1, 1.0, np.inf)
np.fill_diagonal(far, 0)
for k in range(4):
    far = np.minimum(far, far[:, [k]] + far[[k], :])
print(far)
print(np.linalg.eigvalsh(np.diag(both.sum(1)) - both).round(8))

print("-- blocks, triangles, Vandermonde, magic squares")
print(np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 2)), 7]]))
print(
    np.tril(n), n[np.triu_indices(3)], np.vander([1, 2, 3], increasing=True), np.tri(3, dtype=int)
)
square = np.array([[2, 7, 6], [9, 5, 1], [4, 3, 8]])
print(square.sum(0), square.sum(1), square.trace(), np.fliplr(square).trace())
print(np.linalg.pinv(m).round(10), np.linalg.slogdet(A), np.linalg.eigvals(square).round(8).max())
print(square.flat[::4], square.T.flags.f_contiguous, square.ravel(order="F"), square.tolist())

"""Statistics and small machine learning."""

import numpy as np

rng = np.random.default_rng(11)

print("-- moments and orders")
x = rng.gamma(2.0, 1.5, 101)
print(x.mean().round(12), np.median(x), x.var(ddof=1).round(12), x.std().round(12), np.ptp(x))
z = (x - x.mean()) / x.std()
print(
    (z**3).mean().round(12),
    ((z**4).mean() - 3).round(12),
    np.quantile(x, [0.1, 0.25, 0.5, 0.75, 0.9]),
)
q1, q3 = np.percentile(x, [25, 75])
print(x[(x > q3 + 1.5 * (q3 - q1)) | (x < q1 - 1.5 * (q3 - q1))])
print(np.sort(x)[:3], np.searchsorted(np.sort(x), [1, 2, 3]), np.argsort(x)[-3:])

print("-- missing values")
holes = np.where(rng.random((5, 4)) < 0.25, np.nan, np.arange(20.0).reshape(5, 4))
print(holes, np.isnan(holes).sum(axis=0), np.nanmean(holes, axis=0), np.nanmax(holes))
filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
print(
    filled, np.nanstd(holes), np.nan_to_num(holes, nan=-1.0)[0], holes[~np.isnan(holes).any(axis=1)]
)
masked = np.ma.masked_invalid(holes)
print(masked.mean(axis=0), masked.count(), masked.filled(0).sum())

print("-- straight line, polynomial, least squares")
t = np.linspace(0, 5, 30)
y = 2.5 * t - 1 + rng.normal(0, 0.3, t.size)
slope, intercept = np.polyfit(t, y, 1)
print(round(slope, 8), round(intercept, 8))
A = np.vstack([t, np.ones_like(t)]).T
coefficients, residual, rank, singular = np.linalg.lstsq(A, y, rcond=None)
print(coefficients.round(8), residual.round(8), rank, singular.round(6))
fit = A @ coefficients
print((1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum()).round(10))
p = np.poly1d([1, -3, 2])
print(p, p(4), p.roots, p.deriv(), np.polyval([1, -3, 2], [0, 1, 2]))

print("-- correlation")
u = np.column_stack([t, y, rng.normal(size=t.size)])
print(np.corrcoef(u, rowvar=False).round(8), np.cov(u.T, bias=True).shape)
print(np.correlate(y[:6], t[:4], "full").round(8))

print("-- confusion and one-hot")
truth, guess = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
table = np.zeros((3, 3), dtype=int)
np.add.at(table, (truth, guess), 1)
print(table, np.diag(table).sum() / table.sum(), table.sum(axis=1))
hot = np.eye(3)[truth]
print(hot[:3], hot.sum(axis=0), hot.argmax(axis=1)[:5] == truth[:5])
with np.printoptions(precision=3):
    print(np.diag(table) / table.sum(axis=0))

print("-- softmax, cross entropy")
scores = rng.normal(size=(4, 3))
e = np.exp(scores - scores.max(axis=1, keepdims=True))
soft = e / e.sum(axis=1, keepdims=True)
print(
    soft.sum(axis=1).round(12),
    soft.argmax(1),
    -np.log(soft[np.arange(4), [0, 1, 2, 0]]).mean().round(10),
)

print("-- logistic regression")
features = rng.normal(size=(80, 2))
labels = (features @ [1.5, -2.0] + 0.3 > 0).astype(float)
weights, bias = np.zeros(2), 0.0
for _ in range(50):
    probability = 1 / (1 + np.exp(-(features @ weights + bias)))
    error = probability - labels
    weights -= 0.5 * features.T @ error / len(labels)
    bias -= 0.5 * error.mean()
print(weights.round(8), round(float(bias), 8), ((probability > 0.5) == labels).mean())

print("-- k means and nearest neighbours")
clouds = np.concatenate([rng.normal(c, 0.5, (20, 2)) for c in ((0, 0), (3, 3), (0, 4))])
centres = clouds[[0, 20, 40]].copy()
for _ in range(5):
    distance = np.sqrt(((clouds[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2))
    owner = distance.argmin(axis=1)
    centres = np.array([clouds[owner == k].mean(axis=0) for k in range(3)])
print(centres.round(8), np.bincount(owner))
near = np.argsort(np.linalg.norm(clouds - clouds[5], axis=1))[1:4]
print(near, owner[near])

print("-- principal axes")
centred = clouds - clouds.mean(0)
values, vectors = np.linalg.eigh(np.cov(centred.T))
order = values.argsort()[::-1]
print(values[order].round(8), np.abs(vectors[:, order]).round(8))
s = np.linalg.svd(centred, compute_uv=False)
print((s**2 / (len(clouds) - 1)).round(8), (s**2 / (s**2).sum()).round(8))

print("-- histograms in one and two dimensions")
counts, edges = np.histogram(x, bins=[0, 1, 2, 4, 8, 20])
print(counts, edges, np.histogram(x, bins=5, density=True)[0].round(8))
grid, ex, ey = np.histogram2d(clouds[:, 0], clouds[:, 1], bins=3)
print(grid, ex.round(6), np.histogram_bin_edges(x, bins="auto").size)

print("-- groups")
keys = rng.integers(0, 4, 20)
amounts = rng.integers(1, 100, 20)
for key in np.unique(keys):
    group = amounts[keys == key]
    print(key, group.size, group.sum(), group.mean())
order = np.argsort(keys, kind="stable")
starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) > 0])
print(np.add.reduceat(amounts[order], starts), np.maximum.reduceat(amounts[order], starts))
print(np.lexsort((amounts, keys)), np.array_split(np.arange(7), 3))

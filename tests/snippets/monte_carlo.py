"""Random numbers: estimates, walks, sampling, bootstraps."""

import numpy as np

print("-- pi")
np.random.seed(0)
points = np.random.rand(5000, 2)
inside = (points**2).sum(axis=1) <= 1
print(4 * inside.mean(), inside.sum())

print("-- dice")
rng = np.random.default_rng(42)
rolls = rng.integers(1, 7, size=(1000, 2))
sums = rolls.sum(axis=1)
faces, counts = np.unique(sums, return_counts=True)
for face, count in zip(faces, counts):
    print(face, count, "#" * (count // 10))
print(np.mean(sums == 7), rolls[:3].tolist())

print("-- random walks")
steps = rng.choice([-1, 1], size=(4, 1000))
walks = steps.cumsum(axis=1)
print(walks[:, -1], walks.max(axis=1), np.abs(walks).max())
crossing = (np.abs(walks) >= 20).argmax(axis=1)
print(crossing, walks.std(axis=0)[[9, 99, 999]])

print("-- a walk in the plane")
angles = rng.uniform(0, 2 * np.pi, 500)
path = np.column_stack((np.cos(angles), np.sin(angles))).cumsum(axis=0)
print(path[-1], np.linalg.norm(path, axis=1).max().round(10))

print("-- bootstrap")
data = rng.normal(10, 2, size=60)
means = rng.choice(data, size=(400, data.size), replace=True).mean(axis=1)
print(data.mean().round(10), means.mean().round(10), means.std(ddof=1).round(10), sep="\n")
print(np.percentile(means, [2.5, 97.5]))

print("-- integral by sampling, with its error")
u = rng.random(20000)
f = np.exp(-(u**2))
print(f.mean(), f.std(ddof=1) / np.sqrt(f.size))

print("-- shuffles, draws without replacement, permutations")
deck = np.arange(10)
rng.shuffle(deck)
print(deck, rng.permutation(6), rng.choice(20, 5, replace=False))
print(np.random.permutation(5), np.random.choice(["a", "b", "c"], 6, p=[0.5, 0.3, 0.2]))
print(np.random.randint(0, 10, (2, 5)), np.random.randn(3), np.random.uniform(-1, 1, 2))

print("-- rejection sampling")
x = rng.uniform(-3, 3, 4000)
keep = rng.uniform(0, 0.4, 4000) < np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
sample = x[keep]
print(sample.size, sample.mean().round(12), sample.var().round(12))

print("-- Metropolis")
state, chain = 0.0, []
for _ in range(200):
    proposal = state + rng.normal()
    if rng.random() < min(1, np.exp(-0.5 * (proposal**2 - state**2))):
        state = proposal
    chain.append(state)
chain = np.array(chain)
print(chain[-3:], chain.mean(), np.unique(chain).size)

print("-- correlated normals")
covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
factor = np.linalg.cholesky(covariance)
z = rng.standard_normal((1000, 2)) @ factor.T
print(np.cov(z, rowvar=False), np.corrcoef(z.T)[0, 1])
print(rng.multivariate_normal([0, 1], covariance, 2))

print("-- other families")
print(rng.poisson(3, 5), rng.binomial(10, 0.3, 5), rng.exponential(2.0, 2), rng.gamma(2, 1, 2))
print(
    rng.beta(2, 3, 2), rng.geometric(0.2, 4), rng.lognormal(0, 1, 2), rng.multinomial(9, [0.2] * 5)
)
print(np.histogram(rng.triangular(0, 1, 4, 1000), bins=4)[0], rng.bytes(3))

print("-- birthdays")
rooms = rng.integers(0, 365, (500, 23))
rooms.sort(axis=1)
print((np.diff(rooms, axis=1) == 0).any(axis=1).mean())

print("-- Buffon's needle, Monty Hall")
theta, d = rng.random(3000) * np.pi, rng.random(3000)
print(2 / np.mean(d < np.sin(theta)))
prize, pick = rng.integers(0, 3, 3000), rng.integers(0, 3, 3000)
print((prize == pick).mean(), 1 - (prize == pick).mean())

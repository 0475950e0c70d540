"""Prices, returns, portfolios, options."""

import numpy as np

rng = np.random.default_rng(7)
days, names = 250, np.array(["AAA", "BBB", "CCC", "DDD"])
shocks = rng.normal(0.0004, 0.012, (days, len(names)))
prices = 100 * np.exp(np.cumsum(shocks, axis=0))

print("-- returns")
simple = prices[1:] / prices[:-1] - 1
logs = np.diff(np.log(prices), axis=0)
print(simple[:2], logs.mean(axis=0) * 252, logs.std(axis=0, ddof=1) * np.sqrt(252))
print(np.prod(1 + simple, axis=0) - 1, (prices[-1] / prices[0] - 1))

print("-- drawdown")
top = np.maximum.accumulate(prices, axis=0)
fall = prices / top - 1
print(fall.min(axis=0), fall.argmin(axis=0), names[fall.min(axis=0).argmin()])

print("-- moving averages and crossings")


def average(series, n):
    total = np.cumsum(np.insert(series, 0, 0.0))
    return (total[n:] - total[:-n]) / n


short, long = average(prices[:, 0], 10)[20:], average(prices[:, 0], 30)
sign = np.sign(short - long)
print(np.where(np.diff(sign) != 0)[0], short[:3], long[-3:])
weights = np.exp(np.linspace(-1.0, 0.0, 10))
weights /= weights.sum()
print(np.convolve(prices[:, 1], weights[::-1], mode="valid")[:3])

print("-- portfolios")
cov = np.cov(logs, rowvar=False) * 252
mean = logs.mean(axis=0) * 252
w = np.full(len(names), 1 / len(names))
print(
    (w @ mean).round(12),
    np.sqrt(w @ cov @ w).round(12),
    np.sqrt(np.einsum("i,ij,j", w, cov, w)).round(12),
)
inverse = np.linalg.inv(cov)
ones = np.ones(len(names))
least = inverse @ ones / (ones @ inverse @ ones)
print(least.round(10), least.sum().round(12))
many = rng.dirichlet(ones, 200)
risks = np.sqrt(np.einsum("ki,ij,kj->k", many, cov, many))
ratio = (many @ mean) / risks
print(many[ratio.argmax()], ratio.max(), np.round(risks.min(), 10))

print("-- value at risk")
profit = simple @ w
worst = profit[profit <= np.percentile(profit, 5)].mean()
print(np.percentile(profit, 5).round(12), np.quantile(profit, [0.01, 0.05]), worst.round(12))

print("-- options by simulation")
s0, strike, rate, sigma, years, n = 100.0, 105.0, 0.02, 0.2, 1.0, 20000
end = s0 * np.exp((rate - sigma**2 / 2) * years + sigma * np.sqrt(years) * rng.standard_normal(n))
pay = np.exp(-rate * years) * np.maximum(end - strike, 0)
print(pay.mean().round(10), (pay.std() / np.sqrt(n)).round(10), (end > strike).mean())

print("-- binomial tree")
steps = 50
dt = years / steps
up = np.exp(sigma * np.sqrt(dt))
p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
value = np.maximum(strike - s0 * up ** np.arange(steps, -steps - 1, -2), 0)
for step in range(steps - 1, -1, -1):
    value = np.exp(-rate * dt) * (p * value[:-1] + (1 - p) * value[1:])
    exercise = strike - s0 * up ** np.arange(step, -step - 1, -2.0)
    value = np.maximum(value, exercise)
print(value)

print("-- loans")
principal, monthly, months = 200000.0, 0.04 / 12, 360
payment = principal * monthly / (1 - (1 + monthly) ** -months)
k = np.arange(1, months + 1)
balance = principal * (1 + monthly) ** k - payment * ((1 + monthly) ** k - 1) / monthly
print(round(payment, 2), balance[[0, 11, 119, 359]].round(2), np.argmax(balance < principal / 2))
flows = np.array([-1000, 300, 420, 680.0])
print(np.polyval(flows[::-1], 1 / 1.1), (flows / 1.1 ** np.arange(4)).sum())
roots = np.roots(flows[::-1])
rate_of_return = 1 / roots[(np.isreal(roots)) & (roots.real > 0)].real - 1
print(rate_of_return)

print("-- tables with dates")
dates = np.arange("2024-01-01", "2024-02-01", dtype="datetime64[D]")
work = dates[np.is_busday(dates)]
print(work.size, work[:3], np.busday_count("2024-01-01", "2024-02-01"), (dates[-1] - dates[0]))
print(np.datetime64("2024-03-01") - np.timedelta64(1, "D"), dates.astype("datetime64[M]")[0])

"""Random functions under `nb.vmap`, beside the same functions called for each index.

python tests/python/random_batches.py --first 0 --count 1000 [--device fenced]
"""

import argparse

import numbus as nb
import numpy as np
from numbus import _core
from numbus.core.operands import to_numpy

# Steps of a program over named arrays of one example: each takes the generator and the values so
# far, and gives a new one or changes one; None: it does not apply.
STEPS = []


def step(f):
    STEPS.append(f)
    return f


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def floats(values, least=0):
    return [v for v in values if v.dtype.kind == "f" and v.ndim >= least]


@step
def unary(rng, values):
    f = pick(rng, [nb.tanh, nb.exp, nb.sin, abs, nb.square, nb.negative, nb.cos])
    return lambda v: f(v), 1


@step
def binary(rng, values):
    f = pick(rng, [nb.add, nb.multiply, nb.maximum, nb.subtract, nb.arctan2])
    return lambda x, y: f(x, y), 2


@step
def number(rng, values):
    c = float(rng.integers(1, 4))
    return lambda v: v * c - 1, 1


@step
def chosen(rng, values):
    return lambda x, y: nb.where(x > 0.1, x, y), 2


@step
def summed(rng, values):
    f = pick(rng, [nb.sum, nb.max, nb.mean, nb.min, nb.var, nb.prod])
    keep = bool(rng.integers(2))
    axis = pick(rng, [None, 0, -1])
    return lambda v: f(v, axis=axis if v.ndim else None, keepdims=keep), 1


@step
def where_summed(rng, values):
    return lambda v: nb.sum(v, where=v > 0), 1


@step
def positions(rng, values):
    return lambda v: v * nb.arange(v.shape[-1] if v.ndim else 1), 1


@step
def argument(rng, values):
    f = pick(rng, [nb.argmax, nb.argmin])
    return lambda v: v + f(v), 1


@step
def ordered(rng, values):
    f = pick(rng, [nb.sort, nb.cumsum, nb.argsort, nb.cumprod, nb.flip, nb.median])
    axis = pick(rng, [0, -1])
    return lambda v: f(v, axis=axis) * 1.0 if v.ndim else v, 1


@step
def product(rng, values):
    def f(x, y):
        if not x.ndim or not y.ndim:
            return x * y
        fits = x.shape[-1] == y.shape[-2:][0] and max(x.ndim, y.ndim) < 3
        return x @ y if fits else x.sum() * y

    return f, 2


@step
def outer(rng, values):
    return lambda x, y: x.reshape(-1)[:3, None] * y.reshape(-1)[:4], 2


@step
def gram(rng, values):
    def f(v):
        if v.ndim == 2:
            return v @ v.T
        return (v.reshape(-1, 1) @ v.reshape(1, -1)) * 0.25 if v.size < 8 else v

    return f, 1


@step
def turned(rng, values):
    return lambda v: v.T, 1


@step
def part(rng, values):
    cut = pick(rng, [slice(1, None), slice(None, None, -1), slice(None, None, 2), 0, -1, None])
    return lambda v: v[cut] if v.ndim and v.shape[0] > 1 else v, 1


@step
def line(rng, values):
    return lambda v: v.reshape(-1), 1


@step
def joined(rng, values):
    return lambda x, y: nb.concatenate([x.reshape(-1), y.reshape(-1)]), 2


@step
def stacked(rng, values):
    return lambda v: nb.stack([v, v * 2], axis=-1), 1


@step
def picked(rng, values):
    """Elements at indices that depend on the example."""

    def f(x, y):
        if not x.ndim:
            return x
        at = (nb.abs(y) * 3).astype("i8").reshape(-1)[:3] % x.shape[0]
        return x[at]

    return f, 2


@step
def picked_columns(rng, values):
    def f(x, y):
        if x.ndim < 2:
            return x
        at = (nb.abs(y) * 3).astype("i8").reshape(-1)[:2] % x.shape[1]
        return x[:, at]

    return f, 2


@step
def picked_the_same(rng, values):
    k = rng.integers(0, 2, 3)
    return lambda v: v[k] if v.ndim and v.shape[0] > 1 else v, 1


@step
def one_picked(rng, values):
    def f(x, y):
        return x[(y.sum() * 7).astype("i8") % x.shape[0]] if x.ndim else x

    return f, 2


@step
def written(rng, values):
    """A new array that is written to in parts."""

    def f(x, y):
        made = nb.zeros((2, *x.shape))
        made[0] = x
        made[1:] += y.sum()
        return made + x

    return f, 2


@step
def in_place(rng, values):
    def f(x):
        made = nb.array(x * 1.0, ndmin=1)
        made *= 2
        made[::2] -= 1
        return made

    return f, 1


@step
def scattered(rng, values):
    def f(x, y):
        if not x.ndim:
            return x
        made = nb.zeros(x.shape[0])
        at = (nb.abs(y) * 3).astype("i8").reshape(-1)[:3] % x.shape[0]
        made[at] = 1.5
        return made

    return f, 2


@step
def masked(rng, values):
    def f(x):
        made = nb.array(x * 1.0, ndmin=1)
        made[made > 0.3] = 0.5
        return made

    return f, 1


@step
def unlike(rng, values):
    return lambda v: v.astype("f4").astype("f8"), 1


@step
def constant(rng, values):
    w = np.round(rng.standard_normal(3), 3)
    return lambda v: v.reshape(-1)[:3].sum() * nb.asarray(w), 1


@step
def read(rng, values):
    """Elements are read, so that the function is called for each index."""
    if rng.random() < 0.8:
        return None
    return lambda v: v * 2 if nb.stop_gradient(v.sum()) > 0 else v, 1


def program_of(seed):
    """(a function of two arrays, arrays of all examples, axes)."""
    rng = np.random.default_rng(seed)
    shape = pick(rng, [(3, 4), (4, 4), (5,), (2, 3), (3, 3)])
    other = pick(rng, [shape, shape, (shape[-1], 3), (shape[-1],), ()])
    n = int(rng.integers(2, 6))
    steps = []
    for _ in range(int(rng.integers(1, 8))):
        made = pick(rng, STEPS)(rng, None)
        if made is not None:
            steps.append((*made, [int(k) for k in rng.integers(0, 100, 2)]))
    tree = bool(rng.integers(2))

    def f(x, y):
        values = [x, y]
        for body, count, at in steps:
            given = [values[k % len(values)] for k in at[:count]]
            if count == 2 and body.__name__ == "<lambda>":
                try:
                    np.broadcast_shapes(*[g.shape for g in given])
                except ValueError:
                    given = [given[0], given[0].sum()]
            made = nb.asarray(body(*given))
            if made.size > 200 or made.ndim > 4:
                made = made.sum()
            values.append(nb.clip(made, -10, 10))
        return {"last": values[-1], "sum": values[-2].sum()} if tree else values[-1]

    ax = int(rng.integers(len(shape) + 1))
    ay = pick(rng, [None, *range(len(other) + 1)])
    x = rng.standard_normal((*shape[:ax], n, *shape[ax:]))
    y = rng.standard_normal(other if ay is None else (*other[:ay], n, *other[ay:]))
    if rng.random() < 0.3:
        x = np.asfortranarray(x)
    return f, x, y, ax, ay, n


def flat(tree):
    return list(tree.values()) if isinstance(tree, dict) else [tree]


def difference(seed, device="cpu", derivative=False):
    """What differs, as text, or None; and whether it was done at once."""
    f, x, y, ax, ay, n = program_of(seed)
    if derivative:
        g = f

        def f(x, y):
            return nb.grad(lambda x, y: sum(v.sum() for v in flat(g(x, y))))(x, y)

    told = []
    before = _core.record_batch
    _core.record_batch = lambda *given: told.append(before(*given)) or told[-1]
    old = nb.seterr(all="ignore")
    try:
        with nb.device(device):
            a, b = nb.array(x), nb.array(y)
            rows = [f(a.take(k, ax), b if ay is None else b.take(k, ay)) for k in range(n)]
            out = int(seed) % (min(v.ndim for v in flat(rows[0])) + 1)
            found = flat(nb.vmap(f, (ax, ay), out)(a, b))
            columns = [
                np.stack([to_numpy(v) for v in column], out)
                for column in zip(*map(flat, rows), strict=True)
            ]
        for got, want in zip(found, columns, strict=True):
            got = to_numpy(got)
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"{got.shape} {got.dtype}; {want.shape} {want.dtype}", False
            if not np.allclose(got, want, rtol=1e-9, atol=1e-9, equal_nan=True):
                return f"off by {np.nanmax(np.abs(got - want))}", False
    finally:
        nb.seterr(**old)
        _core.record_batch = before
    return None, bool(told) and len(told[0]) == 2, told


def reason_of(found):
    """Why a function was not done at once, if that is known."""
    return found[2][0][0] if len(found) > 2 and not found[1] and found[2] else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--derivative", action="store_true")
    given = parser.parse_args()
    failed = at_once = 0
    reasons = {}
    for seed in range(given.first, given.first + given.count):
        try:
            found = difference(seed, given.device, given.derivative)
        except Exception as error:  # a program that raises raises in both ways, or is reported
            print(seed, type(error).__name__, error)
            failed += 1
            continue
        if found[0] is not None:
            print(seed, found[0])
            failed += 1
        at_once += found[1]
        if reason_of(found):
            reasons[reason_of(found)] = reasons.get(reason_of(found), 0) + 1
    print(f"{given.count} functions from {given.first}: {failed} differ; {at_once} at once")
    for reason, count in reasons.items():
        print(f"  {count} not: {reason}")


if __name__ == "__main__":
    main()

"""Random small programs on infinities, NaNs, zeros, tiny and huge numbers, whose warnings are
compared with NumPy's: category, message and line.

    python tests/python/sweep_warnings.py --seconds 600 --first 0
    python tests/python/sweep_warnings.py --seed 17       # one program, with its warnings
    python tests/python/sweep_warnings.py --only sort     # statements with that word, one a program

Prints the programs that differ and, at the end, how often which statement was the line that
differs. A seed that failed and has been mended goes into sweep_warnings_seeds.txt, whose programs
test_sweep_warnings.py runs.
"""

import argparse
import collections
import random
import sys
import time
import warnings
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import numbus as nb
import numpy as np
from numbus import _core as core

SEEDS = Path(__file__).with_name("sweep_warnings_seeds.txt")
SIZES = (10, 10, 1_000, 100_000)
FLOATS = ["f8", "f8", "f8", "f4", "f4", "f2"]
COMPLEX = ["c16", "c8"]
INTEGERS = ["i8", "i4", "i2", "i1", "u1", "u4", "u8"]
# Statements by what their operands are: x, y floats of one type; c, d complex; i, j integers;
# m booleans; k indices; S a number; 'F', 'I', 'C' types.
STATEMENTS = """
r = x + y
r = x - y
r = x * y
r = x / y
r = x // y
r = x % y
r = x ** y
r = x / S
r = S / x
r = x * S
r = x ** S
r = x ** -1.0
r = 1 / (x * 0)
r = (x * S) / (y - y)
r = np.log(x * y) + x
r = np.exp(x * S) * y - x
r = np.sqrt(x - y) + np.log(x)
r = np.sqrt(x) * np.log1p(y)
r = -x * y + x * S
r = np.abs(x) ** y
r = np.divmod(x, y)[0]
r = np.divmod(x, y)[1]
r = np.modf(x)[0]
r = np.frexp(x)[0]
r = np.ldexp(x, i % 7)
r = np.ldexp(x, 2000)
r = np.heaviside(x, y)
r = np.nextafter(x, y)
r = np.spacing(x)
r = np.logaddexp(x, y)
r = np.hypot(x, y)
r = np.arctan2(x, y)
r = np.fmod(x, y)
r = np.tan(x)
r = np.arcsin(x)
r = np.arccosh(x)
r = np.arctanh(x)
r = np.sinh(x)
r = np.expm1(x)
r = np.exp2(x)
r = np.log2(x)
r = np.log10(x)
r = np.cbrt(x)
r = np.square(x)
r = np.reciprocal(x)
r = np.float_power(x, y)
r = np.sinc(x)
r = np.deg2rad(x) * y
r = np.maximum(x, y) < np.minimum(x, y)
r = np.add(x, y, where=m, out=x.copy())
r = np.divide(x, y, where=m, out=y.copy())
r = np.log(x, where=m, out=np.zeros_like(x))
r = np.divide(x, y, out=y)
r = np.multiply(x, y, dtype='F')
r = np.add(x, y, out=x)
x += y
x -= y
x *= y
x /= y
x //= y
x %= y
x **= y
x **= S
x *= S
x /= 0
x[m] += S
x[m] *= y[m]
x[m] /= y[m]
x[m] //= S
x[m] **= S
x[m] /= 0
r = x[m] / S
r = 1 / x[m]
r = np.log(x[m]) * S
x[m] = y[m] * x[m]
x[::2] *= y[::2]
x[1:] -= x[:-1]
x[k] *= y[k]
r = x[k] / y[k]
r = x[::2] / y[::2]
r = x[::-1] * y
r = x.sum()
r = (x * y).sum()
r = x.prod()
r = x.mean()
r = (x / y).mean()
r = x.var()
r = x.std()
r = x.var(ddof=1)
r = x.max() - x.min()
r = np.ptp(x)
r = np.nansum(x)
r = np.nanmean(x)
r = np.nanvar(x)
r = np.nanmax(x)
r = np.median(x)
r = np.percentile(x, 30)
r = np.average(x, weights=y)
r = np.cumsum(x)
r = np.cumprod(x)
r = x.cumsum() * y
r = np.add.reduce(x)
r = np.multiply.accumulate(x)
r = np.maximum.reduce(x)
r = np.logaddexp.reduce(x[:9])
r = np.subtract.accumulate(x)
r = np.dot(x, y)
r = x @ y
r = np.inner(x, y)
r = np.vdot(x, y)
r = np.outer(x[:9], y[:9])
r = x[:9].reshape(3, 3) @ y[:9].reshape(3, 3)
r = np.linalg.norm(x)
r = np.diff(x)
r = np.gradient(x)
r = np.trapezoid(x)
r = np.cov(x[:9], y[:9])
r = np.corrcoef(x[:9], y[:9])
r = np.interp(x, np.arange(9.0), np.arange(9.0))
r = np.convolve(x, y[:5])
r = np.clip(x, -1, 1)
r = np.sort(x)
r = np.argsort(x)
r = np.unique(x)
r = np.nan_to_num(x)
r = np.where(m, x / y, 0)
r = np.round(x, 3)
r = np.linspace(x[0], x[1], 9)
r = np.einsum('i,i->', x, y)
r = np.add.outer(x[:9], y[:9])
r = np.isclose(x, y)
r = np.allclose(x, y)
r = np.unwrap(x)
r = np.cross(x[:3], y[:3])
r = np.kron(x[:3], y[:3])
r = np.polyval([1, 2, 3], x)
r = np.histogram(x[np.isfinite(x)], 5)[0]
r = np.i0(x)
r = x.astype('F')
r = (x * y).astype('F')
r = x.astype('I')
r = (x + y).astype('I')
r = x.astype('I') + i
i[:] = x
i[m] = x[m]
i[k] = x[k]
i[::2] = x[::2]
i[:] = x * y
z = np.zeros(len(x), 'F'); z[:] = x
z = np.zeros(len(x), 'F'); z[k] = x[k]
z = np.zeros(len(x), 'F'); z[m] = x[m]
r = np.add(x, 1, out=np.zeros(len(x), 'F'), casting='unsafe')
r = c + d
r = c * d
r = c / d
r = c ** 2
r = c ** d
r = np.exp(c)
r = np.log(c)
r = np.sqrt(c)
r = np.abs(c)
r = c < d
r = (c * d + c).real
r = c * d - c / d
r = np.square(c)
r = np.reciprocal(c)
c *= d
c /= d
c += S
c[m] *= d[m]
r = c.sum()
r = c.prod()
r = c.mean()
r = c.var()
r = c.cumsum()
r = np.angle(c)
r = np.sin(c) * d
r = c @ d
r = np.vdot(c, d)
r = c.astype('F')
r = c.astype('C')
r = c.astype('I')
z = np.zeros(len(c)); z[:] = c
z = np.zeros(len(c)); z[k] = c[k]
z = np.zeros(len(c)); z[m] = c[m]
r = i // j
r = i % j
r = i / j
r = np.fmod(i, j)
r = np.divmod(i, j)[0]
r = np.divmod(i, j)[1]
r = i // (j - j)
r = i // (j * 2)
r = (i + 1) % (j + 1)
r = i // 0
r = 3 // i
r = np.reciprocal(i)
i //= j
i %= j
i //= 0
i[m] //= j[m]
r = np.gcd(i, j) // j
r = i ** 2
r = np.log(i)
r = np.sqrt(i) / j
r = np.exp(i)
r = np.power(x, i)
r = x / i
r = i.mean()
r = i.var()
r = abs(x) + x[::-1]
r = np.full(len(x), S) * x
r = x.reshape(2, -1).sum(axis=0)
r = x.reshape(2, -1).sum(axis=1)
r = x.reshape(2, -1).mean(axis=0)
r = x.reshape(2, -1).std(axis=1)
r = x.reshape(2, -1).cumsum(axis=1)
r = x.reshape(2, -1).prod(axis=1)
r = x.reshape(2, -1) / y[:2, None]
r = x.reshape(2, -1) * y[:len(y) // 2]
""".strip().split("\n")


# What is known to differ in some programs, by parts of the statements, and why (docs/plan.md, issue
# 13). On 2026-11-26, 33 of 3,790 programs.
OPEN = {
    # Up to 4,096 elements are kept. Of more, flags are all there is, and only where nothing else in
    # the kernel sets any.
    ("x[m]", "c[m]", "/= ", "+= ", "-= ", "*= ", "%= ", "out="): "many elements overwritten",
    # Of int32 and int64 the lowest numbers are looked for.
    ("i[m]", "astype", "i[:]", "i[k]", "i[::2]"): "many floats out of range of small integers",
    # Its order and its fused steps decide; ours are not NumPy's.
    ("@", "np.dot", "np.inner", "vdot", "norm", "einsum"): "products as a BLAS makes them",
    # NumPy is asked about eight of each look.
    ("c ** d", "c * d", "c / d", "c < d", "np.sin(c)", "reciprocal(c)"): "steps of complex numbers",
    ("logaddexp",): "differences that overflow on the way to a finite result",
    ("dtype=", "casting="): "NumPy casts operands a buffer at a time",
    # Asked about up to 1,024 elements at rest.
    ("cov", "corrcoef", "convolve", "round", "close", "cross", "median"): "other steps",
    # Looked at now and then.
    ("nan", "average", "sum", "mean", "reduce", "var", "std"): "sums that meet nothing here",
    ("'f2'", "arc", "tan(", "x ** y", "inf", "1e30", "i0", "spacing", "linspace"): "rounded once",
    ("histogram", "trapezoid"): "composed of the above",
}


def is_open(lines):
    return any(part in line for line in lines for parts in OPEN for part in parts)


def values(rng, dtype, size):
    """Ordinary numbers, some of them replaced by special ones."""
    dtype = np.dtype(dtype)
    numbers = np.random.default_rng(rng.getrandbits(32))
    how = rng.choice("none few few many all".split())
    few = {"none": 0, "few": min(3, size), "many": size // 3, "all": size}[how]
    # Of the results of functions of many numbers, a part is looked at (lazy/execute.cpp).
    where = numbers.choice(min(size, 1000) if how == "few" else size, few, replace=False)
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            result = numbers.integers(1, 20, size).astype(dtype)
            chosen = [0, 1, 2, info.max, info.min] + [-1] * (dtype.kind == "i")
        else:
            real = np.finfo(dtype)
            result = np.round(numbers.uniform(0.1, 4, size), 2).astype(dtype)
            chosen = [0.0, -0.0, 1.0, -1.0, real.max, -real.max, real.tiny, np.inf, -np.inf, np.nan]
            chosen += [-2.5, 800.0]
            chosen = rng.sample(chosen, rng.randint(1, len(chosen)))
            if dtype.kind == "c":
                result = result + 1j * numbers.uniform(0.1, 4, size).astype(real.dtype)
                chosen = [complex(one, rng.choice([0.0, 1.0, one])) for one in chosen]
        if few:
            result[where] = numbers.choice(np.array(chosen).astype(dtype), few)
    return result.astype(dtype)


def draw(seed, only=""):
    """(lines, arrays) of a program."""
    rng = random.Random(f"warnings {seed}")
    size = rng.choice(SIZES)
    f, c, i = rng.choice(FLOATS), rng.choice(COMPLEX), rng.choice(INTEGERS)
    numbers = np.random.default_rng(rng.getrandbits(32))
    arrays = {
        "x": values(rng, f, size), "y": values(rng, f, size),
        "c": values(rng, c, size), "d": values(rng, c, size),
        "i": values(rng, i, size), "j": values(rng, i, size),
        "m": numbers.random(size) < 0.5, "k": numbers.integers(0, size, size // 2),
    }  # fmt: skip
    lines, count = [], 1 if only else rng.choice([1, 1, 2, 3])
    for n in range(count):
        line = rng.choice([s for s in STATEMENTS if only in s])
        number = rng.choice("0 2 -1.5 1e30 1e300 0.5 3 np.inf np.nan -1".split())
        line = line.replace("S", number)
        for kind, of in (("F", FLOATS), ("I", INTEGERS), ("C", COMPLEX)):
            line = line.replace(f"'{kind}'", f"'{rng.choice(of)}'")
        line = line.replace("r = ", f"r{n} = ")
        if line[0] == "z":
            line = line.replace("z", f"z{n}").replace(f"z{n}eros", "zeros")
        lines.append(line)
    return lines, arrays


def warned(module, lines, arrays):
    """Sorted (line, category, text) of the warnings of a program, and the class of its error."""
    names = {name: module.array(value) for name, value in arrays.items()} | {"np": module}
    failed = None
    code = compile("\n".join(lines), f"<program {id(lines)} {module.__name__}>", "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, names)
        except Exception as error:
            failed = type(error).__name__
        for name, value in names.items():
            if name not in ("np", "__builtins__") and hasattr(value, "tolist"):
                value.tolist()
    results = {name: value for name, value in names.items() if name in ("r0", "r1", "r2")}
    told = []
    for w in caught:
        line = w.lineno if w.filename == code.co_filename else f"{Path(w.filename).name}:{w.lineno}"
        told.append((line, w.category.__name__, str(w.message)))
    return sorted(told, key=str), failed, results


def is_better(theirs, ours):
    """Whether a result of ours is a number where NumPy's is none: sums of half floats, and averages
    of what is large, are not infinite here, so that there is nothing to warn of.
    """
    a, b = np.asarray(theirs), np.asarray(ours)
    if a.dtype.kind not in "fc" or a.shape != b.shape:
        return False
    theirs, ours = np.isfinite(a), np.isfinite(b)
    return bool(np.all(ours | ~theirs) and np.any(ours & ~theirs))


def difference(seed, only="", counts=False):
    """None, or (lines, what NumPy gave and we did not, what we gave and NumPy did not)."""
    lines, arrays = draw(seed, only)
    rng = random.Random(f"mode {seed}")
    before = core.set_at_once(rng.choice([0, 1024]))
    mode = rng.choice("auto auto interp compiled direct".split())
    plans = core.set_without_plan(2 if mode == "direct" else 1)
    if mode != "direct":
        core.set_mode(mode)
    try:
        want, failed, theirs = warned(np, lines, arrays)
        got, fails, ours = warned(nb, lines, arrays)
    finally:
        core.set_at_once(before)
        core.set_mode("auto")
        core.set_without_plan(plans)
    if failed or fails:
        return None if failed == fails else (lines, [str(failed)], [str(fails)])
    # What NumPy says in files of its own is said at a line of the program here.
    inside = {w[1:] for w in want if isinstance(w[0], str)}
    if inside:
        told = {w[1:] for w in got}
        want = [w for w in want if w[1:] not in inside or w[1:] not in told]
        got = [w for w in got if w[1:] not in inside]
    if any(is_better(value, ours[name]) for name, value in theirs.items() if name in ours):
        want = [w for w in want if not w[2].startswith("overflow") or w in got]
    if counts:
        missing = list((collections.Counter(want) - collections.Counter(got)).elements())
        more = list((collections.Counter(got) - collections.Counter(want)).elements())
    else:
        missing, more = sorted(set(want) - set(got), key=str), sorted(set(got) - set(want), key=str)
    if not missing and not more:
        return None
    n, dtypes = arrays["x"].size, [arrays[name].dtype.str[1:] for name in "xci"]
    return [*lines, f"# {n} {' '.join(dtypes)} {mode} at once {before}"], missing, more


def kept():
    lines = SEEDS.read_text().splitlines() if SEEDS.exists() else []
    return [int(line) for line in lines if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--counts", action="store_true", help="compare how often, too")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    if options.seed is not None:
        print(difference(options.seed, options.only, options.counts))
        return
    end, seed, failed = time.time() + options.seconds, options.first, 0
    blamed, examples = collections.Counter(), {}
    while time.time() < end and seed < options.first + options.programs:
        found = difference(seed, options.only, options.counts)
        if found:
            failed += 1
            lines, missing, more = found
            for sign, all_of in (("-", missing), ("+", more)):
                for one in all_of:
                    if isinstance(one, tuple):
                        at = lines[one[0] - 1] if isinstance(one[0], int) else "?"
                        blame = f"{sign} {at}   {one[2]}"
                    else:
                        blame = f"{sign} {lines[0]} {one}"
                    blamed[blame] += 1
                    examples.setdefault(blame, (seed, lines[-1]))
            if not options.quiet:
                print(seed, found, flush=True)
        seed += 1
    print(f"{seed - options.first} programs, {failed} differ; next seed {seed}")
    for blame, count in sorted(blamed.items(), key=lambda item: item[0][2:]):
        print(count, blame, *examples[blame])


if __name__ == "__main__":
    main()

"""Every function of arrays, differentiated: the derivative along a random direction of all its
float64 and complex128 arguments, against differences of NumPy's results. A derivative may be
refused, with a message, but must not be wrong: least of all zero where an argument was read unseen.

    python tests/python/gradient_sweep.py --seconds 600
    python tests/python/gradient_sweep.py np.take np.sum --calls 200
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import numbus as nb
import numpy as np
import sweep
from registry_calls import Choices, arguments

STEP = 2.0**-18
# Random numbers have no derivatives; those of linear algebra have tests of their own.
NAMES = [name for name in sweep.NAMES if name in sweep.ROWS]


def lengthened(args, keywords, first_too):
    """The arguments with floats and complex numbers of 64 bits a part; first_too: the first array
    is one of floats whatever it was.
    """
    state = {"first": first_too}

    def long(x):
        if isinstance(x, np.ndarray):
            kind = "D" if x.dtype.kind == "c" else "d" if x.dtype.kind == "f" else None
            if kind is None and state["first"]:
                kind = "d"
            state["first"] = False
            return x if kind is None or x.dtype.char == kind else x.astype(kind)
        if isinstance(x, dict):
            return {key: long(value) for key, value in x.items()}
        return type(x)([long(item) for item in x]) if type(x) in (list, tuple) else x

    return long(args), long(keywords)


class Moved:
    """The arguments of a call, whose long floats are moved by `shift` along a direction."""

    def __init__(self, xp, shift, rng_seed=5):
        self.xp, self.shift = xp, shift
        self.rng = np.random.default_rng(rng_seed)
        self.count = 0

    def __call__(self, x):
        if isinstance(x, np.ndarray):
            if x.dtype.char not in "dD":
                return self.xp.asarray(np.array(x))
            self.count += 1
            way = self.rng.uniform(0.5, 1.5, x.shape) * self.rng.choice([-1, 1], x.shape)
            if x.dtype.char == "D":
                way = way * (0.6 + 0.8j)
            # No two are equal, and none is zero: there are kinks.
            apart = self.rng.uniform(0.02, 0.2, x.shape)
            base = np.array(x, order="K") + (apart * (1 + 1j) if x.dtype.char == "D" else apart)
            return self.xp.asarray(base) + self.shift * self.xp.asarray(way)
        if isinstance(x, dict):
            return {key: self(value) for key, value in x.items()}
        if type(x) in (list, tuple):
            return type(x)([self(item) for item in x])
        return x


def total(xp, result):
    """A sum with weights over all floating-point numbers of a result."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        parts = [p for p in [total(xp, item) for item in result] if p is not None]
        return sum(parts[1:], parts[0]) if parts else None
    if not hasattr(result, "dtype") or result.dtype.kind not in "fc":
        return None
    if result.dtype.char not in "dD":
        raise FloatingPointError("short floats, of which differences say nothing")
    parts = [result.real, result.imag] if result.dtype.kind == "c" else [result]
    found = None
    for k, part in enumerate(parts):
        weights = np.cos(np.arange(part.size) + k).reshape(part.shape)
        weighted = (part * xp.asarray(weights)).sum()
        found = weighted if found is None else found + weighted
    return found


def check(name, seed):
    """(word, detail) of one call."""
    row, rng = sweep.ROWS[name], Choices(f"{name} {seed}")
    rng.wide = True
    args, keywords = arguments(row, rng)
    keywords.pop("out", None)
    keywords.pop("dtype", None)
    keywords.pop("where", None)  # elsewhere a result without `out` is anything
    given = lengthened(*sweep.twins((args, keywords), {}), rng.random() < 0.8)
    real = sweep.original(row)

    def by_numpy(shift):
        moved = Moved(np, shift)
        values, named = moved(given[0]), moved(given[1])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = total(np, real(*values, **named))
        if found is None or not moved.count:
            raise FloatingPointError("nothing to differentiate")
        return float(found)

    def slope(h):
        wide = by_numpy(2 * h) - by_numpy(-2 * h)
        return (8 * (by_numpy(h) - by_numpy(-h)) - wide) / (12 * h)

    try:
        value = by_numpy(0.0)
        size = max(1.0, abs(value))
        slopes = [slope(STEP), slope(STEP / 2.7), slope(STEP * 3.1)]
    except Exception as error:
        return "no verdict", type(error).__name__
    unsure = max(abs(s - slopes[0]) for s in slopes) + size * 1e-9
    if not np.isfinite(slopes).all() or unsure > 1e-4 * max(size, abs(slopes[0])):
        return "no verdict", "kinks"

    def loss(shift):
        moved = Moved(nb, shift)
        return total(nb, row.function(*moved(given[0]), **moved(given[1])))

    try:
        here, got = [float(x) for x in nb.value_and_grad(loss)(0.0)]
    except (TypeError, ValueError, NotImplementedError) as error:
        text = str(error)
        if text.startswith("[grad]") or "NotImplemented" in type(error).__name__:
            return "refused", text.partition(";")[0]
        return "error", f"{type(error).__name__}: {error}"
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    if not np.isfinite(got):
        return "infinite", ""
    if abs(here - value) > 1e-6 * size:
        return "no verdict", "another value"  # such as another order of what partition leaves open
    if abs(got - slopes[0]) <= 20 * unsure + 1e-5 * max(1.0, abs(slopes[0])):
        return "equal", ""
    return (
        "differs",
        f"{got!r} and {slopes[0]!r} ± {unsure:.1e}: {sweep.described((args, keywords))}",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    end, words, refused = time.monotonic() + args.seconds, Counter(), {}
    for name in args.names or NAMES:
        own = Counter()
        for seed in range(args.first, args.first + args.calls):
            if time.monotonic() > end:
                break
            word, detail = check(name, seed)
            own[word] += 1
            if word in ("differs", "error"):
                print(f"{name} {seed}: {word}: {detail}"[:400], flush=True)
            if word == "refused":
                refused.setdefault(name, detail)
        words += own
        if own["refused"] and not own["equal"]:
            print(f"{name}: refused: {refused[name]}"[:200])
    print(dict(words))
    return 1 if words["differs"] or words["error"] else 0


if __name__ == "__main__":
    sys.exit(main())

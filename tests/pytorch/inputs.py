"""Seeded inputs of the cases that PyTorch's results are recorded of, and how results are stored.

Only NumPy is imported: both sides use this, PyTorch's to record and ours to compare.
"""

import json
import math
import zlib
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def seeded(name):
    """Random numbers that belong to a name: a generator whose stream NumPy keeps for ever."""
    return np.random.RandomState(zlib.crc32(name.encode()))


class Drawn:
    """How one input is drawn; `gradient`: whether derivatives by it are compared."""

    def __init__(self, kind, shape, *, high=None, gradient=None, dtype=None):
        self.kind, self.shape, self.high, self.dtype = kind, tuple(shape), high, dtype
        floats = kind not in ("classes", "bools", "signs", "given")
        self.gradient = floats if gradient is None else gradient

    def make(self, random, dtype):
        shape, kind = self.shape, self.kind
        if kind == "normal":
            a = random.normal(size=shape)
        elif kind == "ties":  # many equal elements, and many zeros
            a = random.randint(-2, 3, size=shape).astype(float)
        elif kind == "large":  # where exponentials overflow
            a = random.normal(size=shape) * 300
        elif kind == "unit":
            a = random.uniform(0.02, 0.98, size=shape)
        elif kind == "positive":
            a = random.uniform(0.1, 2.0, size=shape)
        elif kind == "probabilities":  # along axis 1, of lines along axis 0
            a = random.uniform(0.05, 1.0, size=shape)
            a = a / a.sum(axis=min(1, a.ndim - 1), keepdims=True)
        elif kind == "signs":
            a = random.randint(0, 2, size=shape) * 2.0 - 1
        elif kind == "bools":
            return random.uniform(size=shape) < 0.6
        elif kind == "classes":
            return random.randint(0, self.high, size=shape).astype(np.int64)
        else:
            raise ValueError(kind)
        return np.array(a, self.dtype or dtype)


class Case:
    """A call: the name of a function, inputs (Drawn, or Python values), keywords."""

    def __init__(self, function, inputs, keywords=None, dtype="float64"):
        self.function, self.inputs, self.dtype = function, list(inputs), dtype
        self.keywords = dict(keywords or {})
        self.name = None

    def arrays(self):
        """(arguments, keywords) with NumPy arrays in place of Drawn."""
        random = seeded(self.name)
        made = [x.make(random, self.dtype) if isinstance(x, Drawn) else x for x in self.inputs]
        words = {
            key: x.make(random, self.dtype) if isinstance(x, Drawn) else x
            for key, x in self.keywords.items()
        }
        return made, words

    def drawn(self):
        """The inputs that are Drawn, by position or keyword."""
        every = {**dict(enumerate(self.inputs)), **self.keywords}
        return {key: x for key, x in every.items() if isinstance(x, Drawn)}

    def cotangents(self, results):
        """What the results are multiplied by before they are summed and differentiated."""
        random = seeded(self.name + " cotangent")
        return [random.normal(size=shape).astype(self.dtype) for shape in results]


def named(cases):
    """The cases by name: their function and a count of its cases."""
    counts, found = {}, {}
    for case in cases:
        counts[case.function] = counts.get(case.function, 0) + 1
        case.name = f"{case.function}-{counts[case.function]}"
        found[case.name] = case
    return found


def save(file, arrays):
    """Stores {name: array} in few bytes: all elements of a dtype in one array, and an index."""
    flat, index = {}, {}
    for name, a in arrays.items():
        a = np.asarray(a)
        kind = a.dtype.name
        parts = flat.setdefault(kind, [])
        index[name] = [kind, list(a.shape)]
        parts.append(a.ravel())
    text = np.frombuffer(json.dumps(index, separators=(",", ":")).encode(), np.uint8)
    joined = {kind: np.concatenate(parts) for kind, parts in flat.items()}
    np.savez_compressed(FOLDER / file, index=text, **joined)


def load(file):
    """What save() stored."""
    with np.load(FOLDER / file) as stored:
        index = json.loads(bytes(stored["index"]).decode())
        flat = {kind: stored[kind] for kind in stored.files if kind != "index"}
    at, found = dict.fromkeys(flat, 0), {}
    for name, (kind, shape) in index.items():
        n = math.prod(shape)
        found[name] = flat[kind][at[kind] : at[kind] + n].reshape(shape)
        at[kind] += n
    return found

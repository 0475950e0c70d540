"""Grows a program from a seed: each statement is tried in NumPy and in the shadow as it is added.

Growing by executing means that the generator knows every shape, dtype and value: statements that
NumPy rejects, that leave the bounded range, or whose result hangs on a tie at a threshold are
dropped before they enter the program.
"""

from __future__ import annotations

import os
import random
import re
import warnings
from dataclasses import dataclass

import numpy as np
from program import Program, Stmt, error_class, namespace, rnd
from shadow import Shadow, shadow_numpy, spread

GRAMMAR_VERSION = 11

FIRST = ("bool", "int64", "float32", "float64", "complex128")
ALL = FIRST + (
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "complex64",
)

# name: template of a safe argument ({} is the operand)
UNARY = {
    "negative": "{}", "absolute": "{}", "square": "{}", "sqrt": "xp.absolute({})", "floor": "{}",
    "ceil": "{}", "rint": "{}", "trunc": "{}", "sign": "{}", "positive": "{}", "conjugate": "{}",
    "reciprocal": "(xp.absolute({}) + 0.5)", "fabs": "{}", "isnan": "{}", "isfinite": "{}",
    "signbit": "{}", "logical_not": "{}", "invert": "{}", "sin": "{}", "cos": "{}",
    "tan": "({} * 0.1)", "exp": "({} * 0.25)", "exp2": "({} * 0.25)", "expm1": "({} * 0.25)",
    "log": "(xp.absolute({}) + 0.25)", "log2": "(xp.absolute({}) + 0.25)",
    "log10": "(xp.absolute({}) + 0.25)", "log1p": "xp.absolute({})", "tanh": "{}",
    "sinh": "({} * 0.25)", "cosh": "({} * 0.25)", "arcsin": "xp.tanh({})", "arccos": "xp.sin({})",
    "arctan": "{}", "arcsinh": "{}", "arccosh": "(xp.absolute({}) + 1.25)",
    "arctanh": "({} * 0.05)", "cbrt": "{}", "deg2rad": "{}", "rad2deg": "{}",
}  # fmt: skip
COMMON_UNARY = ("sin", "cos", "exp", "log", "sqrt", "tanh", "absolute", "negative", "square")
BINARY = """minimum maximum fmin fmax copysign arctan2 hypot logaddexp power floor_divide remainder
    fmod logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor heaviside add
    subtract multiply divide""".split()
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
REDUCTIONS = """sum sum sum mean min max any all argmin argmax std var prod count_nonzero""".split()
SIZES = (0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 17, 33, 64, 100)
LIMIT = {"float16": 100.0, "float32": 1e4, "complex64": 1e4}


@dataclass(frozen=True)
class Features:
    """What programs may use; part of what a seed means."""

    dtypes: tuple = FIRST
    ops: frozenset | None = None
    big: bool = True
    # NumPy shares memory with arrays on the CPU alone.
    export: bool = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"
    errors: bool = True
    statements: int = 16

    def has(self, op: str) -> bool:
        return self.ops is None or op in self.ops


class Reject(Exception):
    """This attempt leads nowhere; try another."""


class Grower:
    """The state of a program while it grows: names in NumPy, names in the shadow, statements."""

    def __init__(self, seed: int, features: Features):
        self.r = random.Random(seed)
        Shadow.counter, Shadow.tainted = (
            0,
            False,
        )  # a seed means the same program whatever was generated before
        self.features = features
        self.ns = namespace(np, np, [], np.ndarray)
        self.shadow = namespace(shadow_numpy, shadow_numpy, [], np.ndarray)
        for ns in (self.ns, self.shadow):
            ns["obs"] = lambda x: None
        self.stmts: list[Stmt] = []
        self.into = self.stmts
        self.count = 0
        self.rejected = 0
        self.dead = False
        self.in_loop = False
        self.nan = self.r.random() < 0.06
        self.unary = [u for u in UNARY if features.has(u)]
        self.common = [u for u in COMMON_UNARY if features.has(u)]
        self.binary = [b for b in BINARY if features.has(b)]
        self.main = self.shape()

    # ---- names -------------------------------------------------------------------------------
    def fresh(self, prefix="a") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def names(self, test=None) -> list[str]:
        """Live names of numbus arrays."""
        return [
            n
            for n, x in self.ns.items()
            if isinstance(x, np.ndarray) and n[0] not in "n_" and (not test or test(x))
        ]

    def scalars(self) -> list[str]:
        return [n for n, x in self.ns.items() if isinstance(x, np.generic)]

    def exports(self) -> list[str]:
        return [n for n, x in self.ns.items() if n[0] == "n" and isinstance(x, np.ndarray)]

    def pick(self, test=None) -> str:
        """A live array, late ones more often."""
        found = self.names(test)
        if not found:
            raise Reject
        if self.r.random() < 0.5:
            return found[-1 - self.r.randrange(min(3, len(found)))]
        return self.r.choice(found)

    def writable(self, test=None) -> str:
        """A live array that may be written, and whose elements do not share memory."""
        return self.pick(
            lambda x: (
                x.flags.writeable
                and all(s for s, n in zip(x.strides, x.shape, strict=True) if n > 1)
                and (not test or test(x))
            )
        )

    # ---- statements --------------------------------------------------------------------------
    def emit(self, kind: str, text: str, target: str | None = None, fresh: bool = False):
        """Try a statement; keep it, or reject it (pure) or end the program (state was changed)."""
        masked = re.findall(r"\b([an]\d+)\[~?m\d", text) if self.exports() else ()
        if any(self.ns[name].size == 0 for name in masked):
            # NumPy takes an empty index that is no NumPy array for integers, not for a mask.
            raise Reject
        try:
            code = compile(text, "<s>", "exec")
            exec(code, self.ns)
            exec(code, self.shadow)
        except Exception as e:
            if fresh:
                self.forget(target)
            elif target and not isinstance(e, (TypeError, ValueError, IndexError, NameError)):
                self.dead = True
            raise Reject from e
        if target and not self.fine(target):
            if fresh:
                self.forget(target)
            else:
                self.dead = True
            raise Reject
        self.into.append(Stmt(kind, text))

    def bind(self, kind: str, expr: str, prefix="a") -> str:
        name = self.fresh(prefix)
        self.emit(kind, f"{name} = {expr}", name, fresh=True)
        return name

    def change(self, kind: str, text: str, target: str, values: list[str]):
        """A statement that writes in place: its values are checked first; most misses are free."""
        for value in values:
            self.probe(value)
        self.emit(kind, text, target)

    def probe(self, expr: str):
        """Evaluate an expression in both worlds without keeping it."""
        try:
            self.ns["_"], self.shadow["_"] = eval(expr, self.ns), eval(expr, self.shadow)
            if not self.fine("_"):
                raise Reject
            return self.ns["_"]
        except Reject:
            raise
        except Exception as e:
            raise Reject from e
        finally:
            self.ns.pop("_", None)
            self.shadow.pop("_", None)

    def forget(self, name):
        self.ns.pop(name, None)
        self.shadow.pop(name, None)

    def fine(self, name: str) -> bool:
        """Bounded, NaN only on purpose, and not hanging on a rounding."""
        y, z = self.ns.get(name), self.shadow.get(name)
        if isinstance(y, tuple) or y is None:
            return True
        y, z = np.asarray(y), np.asarray(z)
        d = spread(y, z)
        if not np.isfinite(d):
            return False
        if y.dtype.kind not in "fc" or y.size == 0:
            return y.dtype != object
        size = np.abs(y)
        top = float(size.max())
        if not np.isfinite(top):
            if not self.nan or np.isinf(size).any():
                return False
            top = float(np.nanmax(np.where(np.isnan(size), 0, size)))
        if top > LIMIT.get(y.dtype.name, 1e6):
            return False
        # What is nothing but rounding, of a sum that cancels or the deviation of equal values, may
        # be zero as well.
        if np.any((size > 0) & (size <= 8 * np.abs(y - z))):
            return False
        loose = {2: 2e-2, 4: 1e-3}.get(y.real.dtype.itemsize, 1e-8)
        return d <= loose * top  # noise around zero is no value to decide on

    # ---- pieces ------------------------------------------------------------------------------
    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def shape(self) -> tuple:
        r = self.r
        if self.features.big and self.chance(0.03):
            return r.choice([(41000,), (210, 211), (5, 90, 101), (65536,), (2, 30011)])
        ndim = r.choice((0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4))
        if ndim == 1 and self.chance(0.15):
            return (r.choice((255, 256, 257, 1000)),)
        limit = {0: 1, 1: 100, 2: 64, 3: 8, 4: 5}[ndim]
        sizes = [s for s in SIZES if s <= limit]
        if self.chance(0.75):
            sizes = [s for s in sizes if s > 1]
        if self.chance(0.1) and ndim >= 2:
            return (r.choice(sizes),) * ndim
        return tuple(r.choice(sizes) for _ in range(ndim))

    def dtype(self) -> str:
        if self.chance(0.45):
            floats = [d for d in self.features.dtypes if d in ("float64", "float32")]
            return self.r.choice(floats or self.features.dtypes)
        return self.r.choice(self.features.dtypes)

    def dtype_for(self, x) -> str:
        """A type to cast that array to. Of NaN as uint32 NumPy gives 0 or 2147483648, as its loop
        takes the element in a vector or by itself.
        """
        t = self.dtype()
        unsure = t == "uint32" and x.dtype.kind in "fc" and np.isnan(np.asarray(x)).any()
        return "int64" if unsure else t

    def number(self) -> str:
        r = self.r
        kind = r.random()
        if kind < 0.25:
            return str(r.choice((1, 2, 3, 5, 7)))
        if kind < 0.35:
            return str(-r.choice((1, 2, 3)))
        return f"{r.uniform(-2, 2):.4f}"

    def threshold(self, x: np.ndarray) -> str:
        """A number that splits x, away from every element."""
        if x.dtype.kind in "iu":
            return str(self.r.randrange(-2, 5))
        return f"{self.r.uniform(-0.8, 0.8):.4f}"

    def slices(self, shape: tuple, keep: bool = False) -> str:
        """A basic index of an array of this shape; keep: no dimension is dropped or added."""
        r, parts = self.r, []
        for n in shape:
            kind = r.random()
            step = r.choice(("", "", "", ":2", ":-1", ":3", ":-2"))
            if kind < 0.35:
                parts.append(":")
            elif kind < 0.5:
                parts.append(r.choice(("::-1", "::2", "1::2", "::-2", "::3")))
            elif kind < 0.6 and n and not keep:
                parts.append(str(r.randrange(-n, n)))
            elif "-" in step:
                parts.append(
                    r.choice((f"-2:{r.randrange(n + 1)}", f":{r.randrange(n + 1)}")) + step
                )
            else:
                lo, hi = r.choice(
                    ((0, n), (1, n), (0, n - 1), (1, n - 1), (n // 2, n), (0, n // 2))
                )
                hi_text = "" if hi == n and r.random() < 0.5 else str(hi - n if hi < n else hi)
                parts.append(f"{lo or ''}:{hi_text}{step}")
        if not keep and r.random() < 0.1:
            parts.insert(r.randrange(len(parts) + 1), "None")
        if r.random() < 0.1:
            cut = r.randrange(len(parts) + 1)
            parts = parts[:cut] + ["..."] if r.random() < 0.5 else ["..."] + parts[cut:]
        return ", ".join(parts) or "..."

    def view(self, name: str) -> str:
        """An expression for some view of a live array."""
        r, x = self.r, self.ns[name]
        kind = r.random()
        if kind < 0.5 or x.ndim == 0:
            return f"{name}[{self.slices(x.shape)}]"
        if kind < 0.58:
            return f"{name}.T"
        if kind < 0.66:
            axes = list(range(x.ndim))
            r.shuffle(axes)
            return f"{name}.transpose({', '.join(map(str, axes))})"
        if kind < 0.76:
            return f"{name}.reshape({self.new_shape(x.shape)})"
        if kind < 0.8:
            return f"{name}.ravel()"
        if kind < 0.86:
            return f"xp.flip({name}, {r.randrange(-x.ndim, x.ndim)})"
        if kind < 0.9 and x.ndim >= 2:
            return f"xp.diagonal({name})"
        if kind < 0.95 and x.dtype.kind == "c":
            return f"{name}.{r.choice(('real', 'imag'))}"
        if x.size < 3000:
            lead = tuple(r.choice((1, 2, 3)) for _ in range(r.choice((1, 1, 2))))
            shape = tuple(r.choice((n, 3)) if n == 1 else n for n in x.shape)
            return f"xp.broadcast_to({name}, {(lead + shape)[-4:] if x.ndim < 4 else shape})"
        return f"{name}[{self.slices(x.shape)}]"

    def new_shape(self, shape: tuple) -> str:
        r = self.r
        n = int(np.prod(shape))
        if n == 0 or self.chance(0.3):
            return "-1"
        out, rest = [], n
        for _ in range(r.choice((1, 2, 2, 3))):
            d = r.choice([d for d in (1, 2, 3, 4, 5, 7, 8, 17, 64, rest) if rest % d == 0])
            out.append(d)
            rest //= d
        out.append(rest)
        r.shuffle(out)
        if r.random() < 0.3:
            out[r.randrange(len(out))] = -1
        return ", ".join(map(str, out))

    # ---- expressions -------------------------------------------------------------------------
    def leaf(self, shape: tuple) -> str:
        """An operand that broadcasts to the shape without growing it."""
        r, kind = self.r, self.r.random()
        if kind < 0.12:
            return self.number()
        if kind < 0.2 and self.scalars():
            return r.choice(self.scalars())
        same = self.names(lambda x: x.shape == shape)
        if kind < 0.78 and same:
            return r.choice(same)
        if kind < 0.83 and self.features.export and self.exports():
            n = r.choice(self.exports())
            if self.ns[n].shape == shape:
                return n
        name = self.pick()
        x = self.ns[name]
        if x.shape != shape or r.random() < 0.3:
            text = self.view(name)
            for candidate in (name, text):
                y = x if candidate == name else self.value(candidate)
                if y is not None and fits(np.shape(y), shape):
                    return candidate
            if x.ndim == len(shape) and all(n >= s for n, s in zip(x.shape, shape, strict=True)):
                return f"{name}[{', '.join(f':{s}' for s in shape) or '...'}]"
            if same:
                return r.choice(same)
            raise Reject
        return name

    def value(self, expr: str):
        try:
            return eval(expr, self.ns)
        except Exception:
            return None

    def expr(self, shape: tuple, depth: int) -> str:
        r = self.r
        if depth <= 0 or r.random() < 0.12:
            return self.leaf(shape)
        kind = r.random()
        a = self.expr(shape, depth - 1)
        if kind < 0.4:
            op = r.choice("+-*+-*&|^" if r.random() < 0.1 else "+-*")
            return f"({a} {op} {self.expr(shape, depth - 2)})"
        if kind < 0.5:
            b = self.expr(shape, depth - 2)
            op = r.choice(("/", "/", "/", "//", "%"))
            return f"({a} {op} (xp.absolute({b}) + 0.75))"
        if kind < 0.7:
            u = r.choice(self.common if r.random() < 0.6 and self.common else self.unary)
            return f"xp.{u}({UNARY[u].format(a)})"
        if kind < 0.78:
            b = r.choice(self.binary)
            c = self.expr(shape, depth - 2)
            if b == "power":
                exponent = r.choice(("2", "0.5", "1.5", "3", "-1", "2.5"))
                return f"xp.power(xp.absolute({a}) + 0.25, {exponent})"
            return f"xp.{b}({a}, {c})"
        if kind < 0.84:
            return f"xp.where({self.condition(shape)}, {a}, {self.expr(shape, depth - 2)})"
        if kind < 0.88:
            return f"xp.absolute({a})" if r.random() < 0.5 else f"-({a})"
        if kind < 0.92:
            # The shadow does not see what NumPy's scalars compute by themselves.
            rounds = isinstance(self.probe(a), np.generic)
            return f"({a})**{r.choice((2, 1) if rounds else (2, 2, 2, 3, 0.5, -1, 1))}"
        if kind < 0.96 and self.ns.get(a) is not None and isinstance(self.ns[a], np.ndarray):
            return f"{a}.astype('{self.dtype_for(self.ns[a])}')"
        return f"({a} {r.choice(COMPARE)} {self.expr(shape, depth - 2)})"

    def condition(self, shape: tuple) -> str:
        found = self.names(lambda x: x.shape == shape)
        if not found:
            raise Reject
        bools = [n for n in found if self.ns[n].dtype == bool]
        if bools and self.chance(0.5):
            return self.r.choice(bools)
        name = self.r.choice(found)
        x = self.ns[name]
        if x.dtype.kind == "c":
            return f"(xp.absolute({name}) < {abs(self.r.uniform(0.5, 2)):.4f})"
        if x.dtype == bool:
            return f"~{name}" if self.chance(0.3) else name
        return f"({name} {self.r.choice(COMPARE[:4])} {self.threshold(x)})"

    def program(self) -> Program:
        from moves import grow

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            grow(self)
        return Program(self.stmts, rejected=self.rejected)


def fits(shape: tuple, into: tuple) -> bool:
    """True where broadcasting `shape` with `into` gives `into`."""
    if len(shape) > len(into):
        return False
    tail = into[len(into) - len(shape) :]
    return all(s in (1, t) for s, t in zip(shape, tail, strict=True))


def generate(seed: int, features: Features | None = None) -> Program:
    program = Grower(seed, features or Features()).program()
    program.seed = seed
    return program


__all__ = ["GRAMMAR_VERSION", "Features", "Grower", "Reject", "error_class", "generate", "rnd"]

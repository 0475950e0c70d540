"""A fuzz program: statements as data, printed as a NumPy script, executed with any array module.

A program is a list of `Stmt` over names. Its text is ordinary NumPy code in which `xp` is the
module under test, `np` the real NumPy (exports), `fn` functions of numbers (functions.py), and four
helpers stand for the harness: `rnd` (input data), `obs` (a value the user looks at), `err` (the
exception class that a call raises) and `flush`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from functions import functions_for

HELPERS = frozenset({"xp", "np", "fn", "rnd", "obs", "err", "flush", "__builtins__", "_"})
_POOL = np.random.default_rng(20240607).random(1 << 18)

HEADER = '''"""Run: python {file} [mode] — compares Numbus with NumPy."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), {fuzz!r}))
sys.path.insert(0, {fuzz!r})
from program import main

PROGRAM = """
{body}
"""
if __name__ == "__main__":
    sys.exit(main(PROGRAM, sys.argv[1:] or ["eager", "interp", "compiled", "auto", "small"]))
'''


def rnd(offset, shape, dtype, lo=-2.0, hi=2.0):
    """Generic values in [lo, hi): the same for the same arguments, and no two alike."""
    dtype = np.dtype(dtype)
    n = 1
    for extent in shape:
        n *= extent
    u = np.resize(np.roll(_POOL, -offset) if offset + 2 * n > _POOL.size else _POOL[offset:], 2 * n)
    if dtype.kind == "b":
        x = u[:n] < 0.5
    elif dtype.kind == "c":
        x = (lo + (hi - lo) * u[:n]) + 1j * (lo + (hi - lo) * u[n:])
    elif dtype.kind == "f":
        x = lo + (hi - lo) * u[:n]
    else:
        x = np.floor(max(lo, 0 if dtype.kind == "u" else lo) + (hi - max(lo, 0)) * u[:n])
        if dtype.kind == "i":
            x = np.floor(lo + (hi - lo) * u[:n])
    return x.astype(dtype).reshape(shape)


@dataclass
class Stmt:
    """One statement; a loop holds a body."""

    kind: str
    text: str
    body: list[Stmt] = field(default_factory=list)
    times: int = 0

    def lines(self, indent: str = "") -> list[str]:
        if self.kind != "loop":
            return [indent + line for line in self.text.split("\n")]
        out = [f"{indent}for _ in range({self.times}):"]
        for stmt in self.body:
            out += stmt.lines(indent + "    ")
        return out


@dataclass
class Program:
    """Statements, and the seed they come from."""

    stmts: list[Stmt]
    seed: int = 0
    rejected: int = 0

    @property
    def text(self) -> str:
        return "\n".join(line for stmt in self.stmts for line in stmt.lines())

    def script(self, file: str = "program.py", fuzz: str = ".") -> str:
        return HEADER.format(file=file, fuzz=fuzz, body=self.text)


@dataclass
class Seen:
    """What the user could see of one value: metadata and a private copy of the data."""

    label: str
    scalar: bool
    shape: tuple
    dtype: object
    strides: tuple
    data: np.ndarray | str | None


def see(label: str, x, array_type: type) -> Seen:
    """Copy `x`; metadata is read before the data, because it must not depend on the data."""
    if x is None or is_number(x) or isinstance(x, (str, tuple, type)):
        return Seen(
            label, True, (), type(x).__name__, (), np.asarray(x) if is_number(x) else str(x)
        )
    is_array = isinstance(x, (array_type, np.ndarray))
    shape, dtype = tuple(x.shape), np.dtype(x.dtype)
    strides = tuple(x.strides) if is_array else ()
    return Seen(label, not is_array, shape, dtype, strides, np.array(np.asarray(x)))


def is_number(x) -> bool:
    """A Python number proper: NumPy's and Numbus's scalars also pass for one in isinstance."""
    return type(x) in (bool, int, float, complex)


def error_class(call) -> str:
    """The class of the exception a call must raise (its nearest public class, as a string)."""
    try:
        call()
    except Exception as e:
        if isinstance(e, (NotImplementedError, MemoryError)):
            raise  # no verdict: what a machine has no memory for, another has
        for base in (IndexError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            if isinstance(e, base):
                return base.__name__
        return type(e).__name__
    return "no error"


def namespace(xp, np_module, trace: list, array_type: type, flush=None) -> dict:
    """The names a program starts with."""

    def obs(x):
        trace.append(see(f"obs {len(trace)}", x, array_type))

    return {
        "xp": xp,
        "np": np_module,
        "fn": functions_for(xp),
        "rnd": getattr(np_module, "rnd", rnd),  # the shadow hands out arrays of its own kind
        "obs": obs,
        "err": error_class,
        "flush": flush or (lambda: None),
    }


def execute(code, xp, np_module=np, array_type=np.ndarray, flush=None) -> list[Seen]:
    """Run compiled program text; returns everything observed, then every name still alive."""
    trace: list[Seen] = []
    ns = namespace(xp, np_module, trace, array_type, flush)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(code, ns)
        for name in [n for n in ns if n not in HELPERS and n[0] != "_"]:
            x = ns[name]
            if not callable(x):
                trace.append(see(name, x, array_type))
    return trace


def compile_text(text: str):
    return compile(text, "<program>", "exec")


def main(text: str, modes: list[str]) -> int:
    """Entry of a printed script: compare in every mode, print the first difference."""
    from check import Checker

    failure = Checker(modes).check_text(text)
    print(failure or f"no difference ({', '.join(modes)})")
    return 1 if failure else 0

"""Grows a program from a seed: each statement runs on samples as it is added.

Samples are what variables hold the first time that a statement is reached. They tell the types, so
that nearly all programs are well typed; the oracle runs the whole program later.
"""

from __future__ import annotations

import contextlib
import functools
import math
import random
import resource
import signal
import warnings
from dataclasses import dataclass, field

import numpy as np

from . import differences
from .dicts import Dicts
from .expressions import Expressions, Reject
from .formats import Formats
from .kinds import COMMON, DTYPES, LAYOUTS, SIZES, Data, is_array, is_number, is_text, kind_of
from .latest import Latest
from .newer import Newer
from .nones import Nones
from .records import Records
from .sets import Sets
from .statements import Statements
from .texts import Texts
from .wider import Wider
from .yielders import Yielders

GRAMMAR_VERSION = 17
RECORDS_FROM = 3_000_000  # seeds before it mean the programs of grammar 14
UNSET_FROM = 4_000_000  # … of grammar 15
FORMATS_FROM = 5_000_000  # … of grammar 16


@dataclass(frozen=True)
class Features:
    """What programs may use; part of what a seed means."""

    statements: int = 9
    depth: int = 3
    scalar: bool = False  # for kernels: nothing allocates memory
    records: bool = False
    unset: bool = False  # names that may have no value where they are read
    formats: bool = False  # formats of run time


@dataclass
class Program:
    seed: int
    text: str
    scalar: bool = False
    lines: list = field(default_factory=list)


@functools.lru_cache(maxsize=20_000)
def compiled(text: str, mode: str):
    return compile(text, "<sample>", mode)


def out_of_time(*_):
    raise Reject("a loop without an end")


@contextlib.contextmanager
def bounded(more=1 << 30, seconds=5.0):
    """np.arange(-2**31, 5) is a MemoryError, not a host without memory; a list that grows while a
    loop goes over it ends, too.
    """
    handler = signal.signal(signal.SIGVTALRM, out_of_time)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, before[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


class Grower(
    Expressions,
    Statements,
    Wider,
    Dicts,
    Texts,
    Formats,
    Nones,
    Sets,
    Yielders,
    Newer,
    Latest,
    Records,
):
    def __init__(self, seed: int, features: Features):
        self.r = random.Random(seed)
        self.features = features
        self.scalar = features.scalar
        self.data = Data(self.r, special=self.r.random() < 0.25)
        self.lines: list[tuple[int, str]] = []
        self.rich = not self.scalar and self.r.random() < 0.4  # in dicts
        self.wordy = not self.scalar and self.r.random() < 0.35  # in strings
        self.unsure = self.r.random() < 0.3  # much of None-or-value
        self.tries = not self.scalar and self.r.random() < 0.3  # many try statements
        self.sets = not self.scalar and self.r.random() < 0.2  # many sets
        self.lazily = not self.scalar and self.r.random() < 0.25  # many generators as objects
        self.newest_too = not self.scalar and self.r.random() < 0.3  # much of grammar 13
        self.tallies = False
        self.latest_too = not self.scalar and self.r.random() < 0.35  # much of grammar 14
        self.pythons = False
        self.recorded = features.records and not self.scalar and self.r.random() < 0.6
        self.unset = features.unset and self.r.random() < 0.6
        self.wordy = self.wordy or (features.formats and not self.scalar)
        self.holders: dict = {}  # lists and dicts that hold None, too: a sample of the rest
        self.yielders: dict = {}  # names that hold one: a sample of what it yields
        self.maybes: dict = {}  # names that hold None or a value: a sample of the value
        self.options: list = []  # functions that give such
        self.level = 0
        self.count = 0
        self.ns = {"np": np, "math": math}
        self.hidden = set(self.ns)  # names that are no values
        self.fixed: set[str] = set()  # names that are not assigned to
        self.functions: list = []  # (name, samples of parameters, how many have defaults, names)
        self.generators: list = []  # (name, names of parameters, sample of the second, what comes)
        self.parallel = False
        self.loops: list[str] = []
        self.returns = None

    # ---- samples ---------------------------------------------------------------------------------
    def fresh(self, prefix="v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def names(self, test=None) -> list[str]:
        return [
            n
            for n, v in self.ns.items()
            if n not in self.hidden and n[0] != "_" and (test is None or test(v))
        ]

    def evaluate(self, template: str, *parts):
        """The text of a template with these parts, and its value by theirs."""
        code = compiled(template.format(*[f"_{k}" for k in range(len(parts))]), "eval")
        space = {**self.ns, **{f"_{k}": v for k, (_, v) in enumerate(parts)}}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if template.startswith("sum({0})") and not len(parts[0][1]):
                raise Reject
            try:
                with bounded():
                    value = differences.wrapped(eval(code, space))
            except Reject:
                raise
            except Exception as error:
                raise Reject(repr(error)) from None
        text = template.format(*[t for t, _ in parts])
        if len(text) > 140:
            raise Reject
        return text, self.accepted(value)

    def accepted(self, value):
        if is_array(value) and (
            value.dtype.name not in DTYPES or value.size > 400 or value.ndim > 4
        ):
            raise Reject
        if isinstance(value, np.generic) and value.dtype.name not in DTYPES:
            raise Reject
        if isinstance(value, (tuple, list)):
            if len(value) > 40:
                raise Reject
            for v in value:
                self.accepted(v)
            if isinstance(value, list) and len({kind_of(v) for v in value}) > 1:
                raise Reject
        elif isinstance(value, dict):
            kinds = {kind_of(v) for v in value.values()}
            if len(value) > 40 or len(kinds) > 1 or len({kind_of(k) for k in value}) > 1:
                raise Reject
            for v in value.values():
                self.accepted(v)
        elif is_text(value):
            if len(value) > 40:
                raise Reject
        elif value is not None and not is_array(value) and not is_number(value):
            raise Reject
        return value

    def emit(self, text: str):
        self.lines.append((self.level, text))

    def run(self, text: str):
        """A simple statement, on the samples."""
        before = dict(self.ns)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                with bounded():
                    exec(compiled(text, "exec"), self.ns)
                self.ns.pop("__builtins__", None)
                for name, value in self.ns.items():
                    if name not in self.hidden and before.get(name, self) is not value:
                        value = self.ns[name] = differences.wrapped(value)
                        if not callable(value):
                            self.accepted(value)
            except Exception as error:
                self.ns.clear()
                self.ns.update(before)
                raise Reject(repr(error)) from None

    # ---- the program -----------------------------------------------------------------------------
    def argument(self) -> str:
        """The text of a value to call the program with."""
        r, d = self.r, self.data
        which = r.random()
        if self.recorded and r.random() < 0.5:
            return self.record_array()
        if self.newest_too and r.random() < 0.3:
            return self.newest()
        if self.wordy and which < 0.2:
            return repr(r.choice(("abc", "b,a,b", " two words ", "", "ÄÖé", "x1y2", "中\n")))
        if which < 0.42:
            dtype = r.choice(COMMON)
            ndim = r.choice((0, 1, 1, 1, 1, 2, 2, 2, 3)) if r.random() < 0.97 else 4
            sizes = SIZES if ndim < 3 else (1, 2, 2, 3)
            shape = tuple(r.choice(sizes) for _ in range(ndim))
            return d.array(dtype, shape, r.choice(LAYOUTS))
        if which < 0.6:
            return d.number("int64")
        if which < 0.75:
            return d.number("float64")
        if which < 0.79:
            return r.choice(("True", "False"))
        if which < 0.81:
            return d.number("complex128")
        if which < 0.92:
            dtype = r.choice(DTYPES)
            return f"np.{'bool_' if dtype == 'bool' else dtype}({d.number(dtype)})"
        if self.points and which < 0.95:
            return self.points[0] + "(" + ", ".join(self.point_items) + ")"
        return f"({d.number('int64')}, {d.number('float64')})"

    def program(self) -> str:
        r = self.r
        self.points = None
        head = ["import math", "", "import numpy as np"]
        if self.scalar:
            head = ["KERNEL = True", *head]
        if r.random() < 0.2:
            self.points = "Point", ("first", "second")
            self.point_items = [self.data.number("int64"), self.data.number("float64")]
            at = head.index("import math")
            head[at : at + 1] = ["import math", "from typing import NamedTuple"]
            head += ["", "", "class Point(NamedTuple):", "    first: int", "    second: float"]
            exec("\n".join(head), self.ns)
            self.hidden |= {"Point", "NamedTuple", "KERNEL"}
        if self.newest_too and r.random() < 0.6:
            self.define_tally(head)
        if self.latest_too and r.random() < 0.6:
            self.define_objmode(head)
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            self.global_value()
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            self.helper()
        for _ in range(2 * self.unsure):
            with contextlib.suppress(Reject):
                self.optional()
        if self.lazily or r.random() < 0.25:
            try:
                self.generator()
            except Reject:
                pass
        arguments = [self.argument() for _ in range(r.randint(1, 4))]
        globals_ = dict(self.ns)
        names = [f"a{k}" for k in range(len(arguments))]
        for name, text in zip(names, arguments):
            self.ns[name] = eval(text, dict(self.ns))
            records = is_array(self.ns[name]) and self.ns[name].dtype.names
            if records or isinstance(self.ns[name], (set, np.random.Generator)):
                self.hidden.add(name)
        self.sets = self.sets or any(isinstance(self.ns[n], set) for n in names)
        self.emit(f"def f({', '.join(names)}):")
        self.level = 1
        for _ in range(2 * self.rich):
            with contextlib.suppress(Reject):
                self.make_dict()
        self.body(r.randint(2, self.features.statements))
        self.finish()
        self.level = 0
        self.emit("def arguments():")
        self.level = 1
        self.emit(f"return ({', '.join(arguments)},)")
        self.ns = globals_
        if self.parallel:
            head.insert(head.index("import numpy as np") + 1, "from numbus import prange")
        lines = head + [""]
        for level, text in self.lines:
            if level == 0 and text.startswith("def "):
                lines += ["", ""]
            lines.append("    " * level + text)
        return "\n".join(lines) + "\n"

    def global_value(self):
        name = self.fresh("G")
        text = self.data.number(self.r.choice(("int64", "float64", "bool")))
        if self.r.random() < 0.3:
            text = self.data.array(self.r.choice(COMMON), (self.r.choice((1, 2, 3, 4)),), "C")
        if self.r.random() < 0.2:
            text = f"({self.data.number('int64')}, {self.data.number('float64')})"
        self.ns[name] = eval(text, dict(self.ns))
        if is_array(self.ns[name]):
            self.ns[name].setflags(write=False)
        self.fixed.add(name)
        self.emit(f"{name} = {text}")

    def finish(self):
        """The return statement: what the program has computed."""
        r = self.r
        made = [n for n in self.names(lambda v: not callable(v)) if n not in self.fixed]
        r.shuffle(made)
        made.sort(key=lambda n: (n[0] == "a", self.rich and n[0] != "d"))
        given = made[: r.randint(1, 4)]
        if not given:
            given = ["0"]
        kinds = [kind_of(self.ns[n]) if n != "0" else "int" for n in given]
        held = [n for n in self.maybes if n in self.ns]
        if held and r.random() < 0.7:
            given.append(r.choice(held))
            kinds.append(("maybe", kind_of(self.maybes[given[-1]])))
        whole = [n for n, v in self.ns.items() if isinstance(v, set) and n not in self.fixed]
        if whole and self.newest_too and r.random() < 0.4:
            given.append(r.choice(whole))
            kinds.append("set")
        text = given[0] if len(given) == 1 and r.random() < 0.7 else "(" + ", ".join(given) + ",)"
        self.emit(f"return {text}")
        self.fill_holes(kinds, text.endswith(",)"))

    def fill_holes(self, kinds, as_tuple):
        """Early returns, where the names at hand have the right types."""
        filled = []
        for level, text in self.lines:
            if isinstance(text, str):
                filled.append((level, text))
                continue
            names = []
            for kind in kinds:
                found = sorted(n for n, k in text.items() if k == kind)
                if not found:
                    break
                names.append(self.r.choice(found))
            else:
                given = "(" + ", ".join(names) + ",)" if as_tuple else names[0]
                filled.append((level, f"return {given}"))
                continue
            filled.append((level, "pass"))
        self.lines = filled


def generate(seed: int, features: Features | None = None) -> Program:
    features = features or Features(
        scalar=seed % 4 == 3,
        records=seed >= RECORDS_FROM,
        unset=UNSET_FROM <= seed < FORMATS_FROM,
        formats=seed >= FORMATS_FROM,
    )
    for again in range(50):
        grower = Grower(seed * 1000 + again, features)
        try:
            text = grower.program()
            compile(text, "<generated>", "exec")
        except (Reject, SyntaxError):
            continue
        return Program(seed, text, grower.scalar)
    raise AssertionError(f"seed {seed} gives no program")

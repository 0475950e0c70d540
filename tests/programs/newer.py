"""Statements of grammar 13: objects of a jitclass, Generator arguments, None in lists and dicts,
sets as arguments, exceptions with several arguments and their text."""

from __future__ import annotations

import numpy as np

from .expressions import Reject
from .kinds import is_real

TALLY = """class Tally:
    def __init__(self, total, seen):
        self.total = total
        self.seen = seen

    def add(self, x):
        self.total += x
        self.seen += 1
        return self.total

    def other(self, by):
        return Tally(self.total * 0.5, self.seen + by)

    @property
    def twice(self):
        return self.total * 2.0

    def __len__(self):
        return self.seen % 7 if self.seen > 0 else 0
"""
SPEC = "@jitclass([('total', types.float64), ('seen', types.int64)])"
IMPORTS = ("from numbus.kernels import types", "from numbus.kernels.classes import jitclass")


class Newer:
    """Names of these are hidden from other statements; `holders` says what a list or dict holds."""

    def newest(self) -> str:
        """The text of an argument of grammar 13."""
        r = self.r
        if r.random() < 0.4:
            return f"np.random.default_rng({r.randrange(1000)})"
        if self.wordy and r.random() < 0.4:
            return repr({r.choice(("a", "b", "xyz", "é")) for _ in range(r.randint(1, 3))})
        return repr({r.randint(-3, 9) for _ in range(r.randint(1, 4))})

    def define_tally(self, head):
        """The class, which CPython has as it is and compiled functions as a jitclass."""
        at = head.index("import numpy as np") + 1
        head[at:at] = IMPORTS
        head += ["", "", SPEC, *TALLY.rstrip().split("\n")]
        exec(TALLY, self.ns)
        self.hidden |= {"Tally", "jitclass", "types"}
        self.tallies = True

    def do_newer(self):
        if self.scalar:
            raise Reject
        ways = [self.hold_none] * 4 + [self.raise_several] * 2
        if self.tallies:
            ways += [self.use_tally] * 4
        if self.generator_names():
            ways += [self.draw] * 4
        return self.r.choice(ways)()

    # ---- objects ---------------------------------------------------------------------------------
    def use_tally(self):
        r = self.r
        names = [n for n, v in self.ns.items() if type(v).__name__ == "Tally"]
        x = f"float({self.number(1, is_real)[0]})"
        if not names or r.random() < 0.3:
            name = self.fresh("c")
            self.hidden.add(name)
            old = r.choice(names) if names and r.random() < 0.3 else None
            made = f"{old}.other({self.small()[0]})" if old else f"Tally({x}, {self.small()[0]})"
            return self.simple(f"{name} = {made}")
        name, made = r.choice(names), self.fresh()
        which = r.random()
        if which < 0.3:
            return self.simple(f"{name}.add({x})")
        if which < 0.5:
            return self.simple(f"{name}.{r.choice(('total', 'total +', 'total -'))}= {x}")
        if which < 0.6:
            return self.simple(f"{name}.seen += {self.small()[0]}")
        asked = [f"{name}.{what}" for what in ("total", "seen", "twice", f"add({x})")]
        asked.append(f"len({name})")
        return self.simple(f"{made} = {r.choice(asked)}")

    # ---- Generator arguments ---------------------------------------------------------------------
    def generator_names(self):
        return [n for n, v in self.ns.items() if isinstance(v, np.random.Generator)]

    def draw(self):
        r = self.r
        g = r.choice(self.generator_names())
        call = r.choice((
            "random()", "standard_normal()", "integers(0, 9)", "integers(5)", "uniform(-1.0, 2.5)",
            "random(3)", "integers(0, 4, 3)", "standard_exponential()", "permutation(4)",
            "normal(0.5, 2.0)", "random((2, 2))",
        ))  # fmt: skip
        self.simple(f"{self.fresh()} = {g}.{call}")

    # ---- None in lists and dicts -----------------------------------------------------------------
    def hold_none(self):
        r = self.r
        names = [n for n in self.holders if n in self.ns]
        if not names or r.random() < 0.3:
            name = self.fresh("z")
            value = self.number(1, lambda v: type(v) in (int, float))
            other = self.like(value[1], 1)[0]
            texts = [f"[{value[0]}, None, {other}]", f"[None, {value[0]}]"]
            texts += [f"{{0: None, 1: {value[0]}}}", f"{{1: {value[0]}, 3: None, 2: {other}}}"]
            if type(value[1]) is int:
                texts += [f"[x if x % 2 else None for x in range({self.small()[0]} + 2)]"]
            self.hidden.add(name)
            self.holders[name] = value[1]
            return self.simple(f"{name} = {r.choice(texts)}")
        name = r.choice(names)
        sample, held = self.holders[name], self.ns[name]
        item = "None" if r.random() < 0.4 else self.like(sample, 1)[0]
        is_list = isinstance(held, list)
        key = f"{self.small()[0]} % len({name})" if is_list else self.small()[0]
        which, made = r.random(), self.fresh()
        if which < 0.3:
            return self.simple(f"{name}[{key}] = {item}")
        if which < 0.45 and is_list:
            return self.simple(f"{name}.append({item})")
        if which < 0.55 and is_list:
            return self.simple(f"{made} = len([x for x in {name} if x is None])")
        if which < 0.7:
            got = f"{name}[{key}]" if is_list else f"{name}.get({key})"
            self.emit(f"{made} = {got}")
            return self.hold(made, sample)
        if which < 0.85:
            total, x = self.fresh(), self.fresh("i")
            self.simple(f"{total} = {self.like(sample, 1)[0]}")
            over = name if is_list else f"{name}.values()"
            self.emit(f"for {x} in {over}:")
            self.lines.append((self.level + 1, f"if {x} is not None:"))
            self.lines.append((self.level + 2, f"{total} += {x}"))
            return None
        got = f"{name}[{key}]" if is_list else f"{name}.get({key})"
        return self.simple(f"{made} = {got} is {r.choice(('', 'not '))}None")

    # ---- exceptions ------------------------------------------------------------------------------
    def raise_several(self):
        """An exception with several arguments, on its way or as a text."""
        r = self.r
        values = self.names(lambda v: type(v) in (int, bool, float))
        parts = [repr(f"own {r.randrange(100)}"), str(r.randrange(9))]
        parts += [r.choice(values) for _ in range(r.randint(0, 2)) if values]
        cls = r.choice(("ValueError", "IndexError", "RuntimeError", "KeyError", "ArithmeticError"))
        what = f"raise {cls}({', '.join(parts)})"
        if r.random() < 0.3:
            self.emit(f"if {self.condition(2)[0]}:")
            return self.lines.append((self.level + 1, what))
        made = self.fresh()
        self.simple(f"{made} = ''")
        self.emit("try:")
        self.lines.append((self.level + 1, f"if {self.condition(1)[0]}:"))
        self.lines.append((self.level + 2, what))
        self.emit(f"except {r.choice((cls, cls, 'Exception'))} as e{made}:")
        e = f"e{made}"
        text = r.choice((f"str({e})", f"repr({e})", f"f'<{{{e}}}>'", f"str({e}.args[1])"))
        self.lines.append((self.level + 1, f"{made} = {text}"))
        return None

"""Statements of grammar 14: texts by % and format(), dict.fromkeys(), zip() and enumerate() of
generators, blocks of objmode, also in try, and local functions that call each other."""

from __future__ import annotations

from .expressions import Reject
from .kinds import is_text

IMPORT = "from numbus.kernels import objmode"


class Latest:
    def define_objmode(self, head):
        """CPython has the context manager, which does nothing."""
        head[head.index("import numpy as np") + 1 : head.index("import numpy as np") + 1] = [IMPORT]
        exec(IMPORT, self.ns)
        self.hidden |= {"objmode"}
        self.pythons = True

    def do_latest(self):
        if self.scalar:
            raise Reject
        ways = [self.from_keys] * 2 + [self.call_each_other] * 2
        if self.wordy:
            ways += [self.format_text] * 6
        if any(n in self.ns for n in self.yielders):
            ways += [self.zip_yielder] * 4
        if self.pythons:
            ways += [self.python_block] * 5
        return self.r.choice(ways)()

    def whole(self, text, name=None):
        """A block of several lines, on the samples and into the program."""
        if name is not None:
            self.hidden.add(name)
        self.run(text)
        for line in text.split("\n"):
            shown = line.lstrip(" ")
            self.lines.append((self.level + (len(line) - len(shown)) // 4, shown))

    # ---- texts -----------------------------------------------------------------------------------
    def piece_of_text(self):
        """The text of a value to format, and what may be said of it by % and by format()."""
        r = self.r
        which = r.random()
        if which < 0.4:
            n = self.small()[0]
            text = r.choice((n, f"({n} - 3)", f"({n} * 100)", f"({n} > 1)"))
            return text, ("d", "5d", "-4d", "03d", "+d", "x", "#o", "s", "6s", "i"), (
                "", "4", "<5", "+", "05", "x", "^6", ",")  # fmt: skip
        if which < 0.6:
            n = self.small()[0]
            return f"({n} * 0.75 - 1.5)", ("f", ".2f", "8.3f", "-9.1e", "g", "d", "s", "06.1f"), (
                "", ".2f", "8.3f", ">9.1e", "g", "06.1f", "+.0f")  # fmt: skip
        if self.names(is_text) and which < 0.9:
            return self.variable(is_text)[0], ("s", "7s", "-7s", ".2s"), ("", ">6", "*^7", ".1")
        return repr(r.choice(("", "a b", "é", "x" * 4))), ("s", "7s", "r"), ("", "<6", "!r")

    def format_text(self):
        r = self.r
        parts = [self.piece_of_text() for _ in range(r.randint(1, 3))]
        made = self.fresh()
        between = [r.choice(("", " ", "a", "100%%", "é:")) for _ in parts]
        if r.random() < 0.5:
            shown = "".join(b + "%" + r.choice(p[1]) for b, p in zip(between, parts, strict=True))
            values = ", ".join(p[0] for p in parts) + ("," if len(parts) == 1 else "")
            return self.simple(f"{made} = '{shown}' % ({values})")
        shown = ""
        for between_, (_, _, specs) in zip(between, parts, strict=True):
            spec = r.choice(specs)
            shown += between_ + "{" + (spec if spec[:1] in ("", "!") else ":" + spec) + "}"
        return self.simple(f"{made} = '{shown}'.format({', '.join(p[0] for p in parts)})")

    # ---- containers ------------------------------------------------------------------------------
    def from_keys(self):
        r = self.r
        items = f"[{', '.join(self.small()[0] for _ in range(r.randint(1, 4)))}]"
        if self.wordy and r.random() < 0.4:
            items = repr(r.choice(("abca", "zz", "éa")))
        made = self.fresh()
        how = r.choice(("list({})", "len({})", "[x for x in {}]", "sorted({})", "max({})"))
        return self.simple(f"{made} = {how.format(f'dict.fromkeys({items})')}")

    def zip_yielder(self):
        r = self.r
        name = r.choice([n for n in self.yielders if n in self.ns])
        other = self.like(self.yielders[name], 1)[0]
        made = self.fresh()
        over = r.choice((
            f"x for i, x in enumerate({name})",
            f"x for i, x in enumerate({name}, {self.small()[0]}) if i != 2",
            f"x for x, y in zip({name}, [1, 2])",
            f"x for y, x in zip(range({self.small()[0]} + 1), {name})",
            f"x for x, y, z in zip({name}, {name}, 'abc')",
        ))  # fmt: skip
        return self.simple(f"{made} = [{over}] + [{other}]")

    # ---- local functions -------------------------------------------------------------------------
    def call_each_other(self):
        r = self.r
        if self.level != 1:
            raise Reject
        one, two, made = self.fresh("p"), self.fresh("p"), self.fresh()
        k = r.randint(1, 5)
        first = r.choice((f"{two}(n - 1) + {k}", f"{two}(n - 1) * 2 - {k}", f"{k} - {two}(n - 1)"))
        second = r.choice((f"{one}(n - 1)", f"{one}(n - 2) + n", f"{one}(n - 1) // 2"))
        text = (
            f"def {one}(n):\n    return {k} if n <= 0 else {first}\n"
            f"def {two}(n):\n    if n <= 0:\n        return {r.randint(0, 9)}\n"
            f"    return {second}\n{made} = {one}({self.small()[0]})"
        )
        self.hidden |= {one, two}
        return self.whole(text)

    # ---- Python in between -----------------------------------------------------------------------
    def python_block(self):
        r = self.r
        made, n = self.fresh(), self.small()[0]
        kinds = {
            "int64": (f"{n} * 3 - 1", f"len(str({n}))", f"sum(range({n}))", f"{n} ^ 5"),
            "float64": (f"{n} * 0.5", f"float({n}) - 1.25", f"sum([0.5, {n}])"),
            "boolean": (f"{n} > 1", f"str({n}) in 'x12'"),
            "float64[:]": (f"np.arange(3) * 0.5 + {n}", f"np.full({n} + 1, 2.5)"),
        }
        if self.wordy:
            kinds["unicode_type"] = (f"str({n}) + 'x'", f"'-'.join(['a'] * {n})")
        kind = r.choice(list(kinds))
        value, other = r.choice(kinds[kind]), r.choice(kinds[kind])
        if r.random() < 0.4:
            return self.whole(f"with objmode({made}='{kind}'):\n    {made} = {value}")
        inner = self.fresh()
        self.hidden.add(inner)
        cls = r.choice(("ValueError", "KeyError", "ZeroDivisionError"))
        caught = r.choice((cls, cls, "Exception", "(IndexError, ArithmeticError)", "LookupError"))
        raises = r.choice((
            f"raise {cls}('own {r.randrange(9)}')", "len([][1:][0])", f"1 // ({n} - {n})",
        ))  # fmt: skip
        with_float = "[:]" in kind
        start = "np.zeros(2)" if with_float else f"({other})"
        ending = r.choice(("", f"\nfinally:\n    {made}e = {n} + 1"))
        return self.whole(
            f"{made} = {start}\ntry:\n    with objmode({inner}='{kind}'):\n"
            f"        if {n} == 1:\n            {raises}\n        {inner} = {value}\n"
            f"    {made} = {inner}\nexcept {caught}:\n    {made} = {start}{ending}"
        )

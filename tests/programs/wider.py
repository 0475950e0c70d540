"""Statements of grammars 4 and 5: generators, named tuples, lists of tuples and arrays, prange,
strings."""

from __future__ import annotations

import numpy as np

from .expressions import Reject
from .kinds import is_array, is_real, is_text, kind_of

WORDS = ("", "a", "b", "ab", "ba", "abc", "é中", "{0}", "x y")


class Wider:
    # ---- generators ------------------------------------------------------------------------------
    def generator(self):
        """A function of the module that yields numbers of one kind."""
        r = self.r
        name, count, other, i = (self.fresh(p) for p in ("y", "p", "p", "i"))
        sample = r.choice((1, 2.5, 3))
        held = dict(self.ns)
        self.ns.update({count: 3, other: sample, i: 1})
        try:
            first = self.number(2)
            kind = kind_of(first[1])
            second = self.number(1, lambda v: kind_of(v) == kind)
            test = self.condition(1)
        finally:
            self.ns = held
        lines = [f"def {name}({count}, {other}):", f"    for {i} in range({count} % 5):"]
        if r.random() < 0.5:
            lines += [f"        if {test[0]}:", f"            {r.choice(('continue', 'break'))}"]
        lines.append(f"        yield {first[0]}")
        if r.random() < 0.4:
            lines.append(f"    yield {second[0]}")
        self.run("\n".join(lines))
        for line in lines:
            self.emit(line)
        self.hidden.add(name)
        self.generators.append((name, (count, other), sample, first[1]))

    def over_generator(self, target: str):
        """The call of a generator, as what a for loop goes over."""
        if not self.generators:
            raise Reject
        name, names, sample, given = self.r.choice(self.generators)
        if name not in self.ns:
            raise Reject
        count, other = self.small(), self.like(sample, 1)
        call = f"{name}({count[0]}, {other[0]})"
        if self.r.random() < 0.3:
            call = f"{name}({names[1]}={other[0]}, {names[0]}={count[0]})"
        return target, call, {target: given}

    # ---- tuples and lists ------------------------------------------------------------------------
    def do_point(self):
        """A named tuple made inside, or one with another field."""
        if not self.points:
            raise Reject
        first = self.number(2, lambda v: type(v) is int)
        second = self.number(2, lambda v: type(v) is float)
        made = self.r.choice((
            f"Point({first[0]}, {second[0]})", f"Point(second={second[0]}, first={first[0]})",
            f"Point({first[0]}, second={second[0]})",
        ))  # fmt: skip
        old = self.names(lambda v: hasattr(v, "_fields"))
        if old and self.r.random() < 0.4:
            made = f"{self.r.choice(old)}._replace(first={first[0]})"
        self.simple(f"{self.fresh()} = {made}")

    def do_rows(self):
        """A list of tuples or of arrays: made, grown, looped over."""
        r = self.r
        if self.scalar:
            raise Reject
        rows = self.names(lambda v: isinstance(v, list) and v and isinstance(v[0], tuple))
        if rows and r.random() < 0.5:
            name = r.choice(rows)
            row = self.row(self.ns[name][0])
            return (
                self.change(name, f"{name}.{r.choice(('append', 'append', 'pop'))}({row})")
                if (r.random() < 0.5)
                else self.change(name, f"{name}[{self.index(len(self.ns[name]))[0]}] = {row}")
            )
        if r.random() < 0.4:
            a = self.array(1)
            kind = kind_of(a[1])
            items = [a] + [
                self.array(1, lambda v: kind_of(v) == kind) for _ in range(r.randint(0, 2))
            ]
            return self.simple(f"{self.fresh()} = [{', '.join(t for t, _ in items)}]")
        sample = (1, r.choice((1, 2.5, True)))
        items = [self.row(sample) for _ in range(r.randint(1, 3))]
        return self.simple(f"{self.fresh()} = [{', '.join(items)}]")

    def row(self, sample) -> str:
        """The text of a tuple of numbers of a sample's kinds."""
        items = [self.number(1, lambda v, x=x: kind_of(v) == kind_of(x)) for x in sample]
        return "(" + "".join(f"{t}, " for t, _ in items).strip() + ")"

    def over_rows(self, target: str):
        """A loop over a list of tuples, taken apart, or of arrays."""
        name, value = self.variable(
            lambda v: isinstance(v, list) and v and (isinstance(v[0], tuple) or is_array(v[0]))
        )
        if is_array(value[0]):
            return target, name, {target: value[0]}
        targets = [target] + [self.fresh("i") for _ in value[0][1:]]
        text = ", ".join(targets) + ("," if len(targets) == 1 else "")
        return text, name, dict(zip(targets, value[0]))

    # ---- loops whose iterations have no order ----------------------------------------------------
    def do_prange(self):
        """A parallel loop that adds numbers up, multiplies or compares them, or fills an array."""
        r = self.r
        if self.scalar or self.loops or self.level > 2:
            raise Reject
        self.parallel = True
        name, total = self.fresh("i"), self.fresh()
        n = r.choice((0, 1, 3, 7, 40, 150))
        held = dict(self.ns)
        how = r.choice(("fill", "fill", "fill", "int", "int", "sum", "sum", "product", "extreme"))
        tests = {"int": lambda v: type(v) is int, "product": is_real, "extreme": is_real}
        self.ns[name] = 1
        try:
            item = self.number(2, tests.get(how, lambda v: True))
        finally:
            self.ns = held
        if how == "fill":
            dtype = "complex128" if np.iscomplexobj(item[1]) else "float64"
            self.simple(f"{total} = np.zeros({n}, np.{dtype})")
            change = f"{total}[{name}] = {item[0]}"
        elif how == "extreme":
            self.simple(f"{total} = {self.leaf(is_real)[0]}")
            word = r.choice(("min", "max"))
            change = f"{total} = {word}({total}, {item[0]})"
        else:
            start = self.small()[0] if r.random() < 0.5 else self.leaf()[0]
            self.simple(f"{total} = {start}")
            op = "*" if how == "product" else r.choice("+++-")
            change = f"{total} {op}= {item[0]}"
        self.emit(f"for {name} in prange({n}):")
        self.lines.append((self.level + 1, change))

    # ---- text ------------------------------------------------------------------------------------
    def text(self, depth: int):
        """A string: a constant, or what is made of such."""
        r = self.r
        which = r.random()
        if depth <= 0 or which < 0.35:
            try:
                if r.random() < 0.7:
                    return self.variable(is_text)
            except Reject:
                pass
            word = r.choice(WORDS)
            return repr(word), word
        a = self.text(depth - 1)
        if which < 0.5:
            return self.evaluate("({0} + {1})", a, self.text(depth - 1))
        if which < 0.56:
            return self.evaluate("({0} * " + str(r.randint(-1, 3)) + ")", a)
        if which < 0.58:  # not known while compiling
            return self.evaluate("({0} * {1})", a, self.small())
        if which < 0.72:
            n = len(a[1])
            return self.evaluate("{0}[" + str(r.randrange(-n, n) if n else 0) + "]", a)
        if which < 0.74:
            return self.evaluate("{0}[{1}]", a, self.index(len(a[1])))
        if which < 0.88:
            ends = [str(r.randint(-4, 4)) if r.random() < 0.5 else "" for _ in range(2)]
            return self.evaluate("{0}[" + ":".join(ends) + r.choice(("", ":-1", ":2")) + "]", a)
        return self.evaluate(*self.formatted(a, self.text(depth - 1)))

    def formatted(self, a, b):
        """The template of an f-string, and its parts."""
        parts = [a]
        other = "{{{1}}}"
        if self.r.random() < 0.2:
            b = self.small()  # most often no constant
        elif self.r.random() < 0.3:
            other, b = str(self.r.randint(-3, 9)), None
        parts += [b] if b else []
        for text, _ in parts:
            if any(c in text for c in "{}\\'\""):
                raise Reject  # no name
        return "f'" + self.r.choice(("", "x")) + "{{{0}}}" + other + "'", *parts

    def do_text(self):
        """A name of a string, which has it from there on."""
        self.simple(f"{self.fresh()} = {self.text(2)[0]}")

    def message(self) -> str:
        """The text of a message, with numbers in it."""
        r = self.r
        plain = f"own {r.randrange(100)}"
        words = self.names(is_text)
        if words and r.random() < 0.3:
            return f"{plain!r} + {r.choice(words)}"
        found = self.names(lambda v: type(v) in (int, bool, float))
        if not found or r.random() < 0.5:
            return repr(plain)
        parts = [f"{{{r.choice(found)}}}" for _ in range(r.randint(1, 2))]
        return "f" + repr("own " + r.choice((" ", ", ", " and ")).join(parts))

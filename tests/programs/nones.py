"""Statements of grammar 8: names that hold None or a value."""

from __future__ import annotations

from .expressions import ARITHMETIC, Reject
from .kinds import is_array, is_number, is_real, is_text, kind_of


class Nones:
    """Such names are hidden from all other statements; `maybes` has a sample of the value."""

    def a_maybe(self, test=None):
        names = [n for n in self.maybes if n in self.ns and (test is None or test(self.maybes[n]))]
        if not names:
            raise Reject
        name = self.r.choice(names)
        return name, self.maybes[name]

    def like_maybe(self, sample):
        """The text of a value of the sample's kind."""
        if isinstance(sample, tuple):
            return "(" + ", ".join(self.like(v, 1)[0] for v in sample) + ",)"
        if is_text(sample):
            return self.string(1)[0]
        if is_array(sample):
            kind = kind_of(sample)
            return self.array(1, lambda v: kind_of(v) == kind)[0]
        return self.like(sample, 1)[0]

    def do_none(self):
        if self.r.random() < 0.35 or not any(n in self.ns for n in self.maybes):
            return self.make_maybe()
        return self.use_maybe()

    def make_maybe(self):
        r = self.r
        name, which = self.fresh("o"), r.random()
        if which < 0.12 and self.options:
            function, samples, given = r.choice(self.options)
            text = f"{function}({', '.join(self.like(s, 1)[0] for s in samples)})"
            self.emit(f"{name} = {text}")
            return self.hold(name, given)
        if which < 0.3 and self.rich:
            d, entries = self.a_dict()
            key, value = self.entry(entries)
            if is_number(value) or isinstance(value, tuple):
                self.emit(f"{name} = {d}.get({self.dict_key(key)})")
                return self.hold(name, value)
        if which < 0.4:
            first, second = self.number(1, lambda v: type(v) is int), self.number(1)
            given = f"({first[0]}, {second[0]})", (first[1], second[1])
        elif which < 0.5 and self.wordy:
            given = self.string(1)
        elif which < 0.6 and not self.scalar:
            given = self.array(1, lambda v: v.ndim > 0)
        else:
            given = self.number(2)
        condition = self.condition(1)[0]
        if r.random() < 0.5:
            self.emit(f"{name} = None")
            self.emit(f"if {condition}:")
            self.lines.append((self.level + 1, f"{name} = {given[0]}"))
        elif r.random() < 0.6:
            self.emit(f"{name} = {given[0]} if {condition} else None")
        else:
            self.emit(f"{name} = None if {condition} else {given[0]}")
        return self.hold(name, given[1])

    def hold(self, name, sample):
        self.ns[name] = self.maybes[name] = sample
        self.hidden.add(name)

    def use_maybe(self):
        r = self.r
        name, sample = self.a_maybe()
        which = r.random()
        if which < 0.2:
            return self.where_there(f"if {name} is not None:", name)
        if which < 0.3:
            self.emit(f"if {name} is None:")
            self.lines.append((self.level + 1, f"{name} = {self.like_maybe(sample)}"))
            if r.random() < 0.5:
                self.where_there("else:", name)
            return None
        if which < 0.4:
            self.emit(f"if {self.condition(1)[0]}:")
            value = "None" if r.random() < 0.5 else self.like_maybe(sample)
            self.lines.append((self.level + 1, f"{name} = {value}"))
            return None
        made = self.fresh()
        if which < 0.55:
            other = self.like_maybe(sample)
            test = r.choice((f"{name} is not None", f"{name} != None"))
            if is_array(sample):
                test = f"{name} is not None"
            part = "[0]" if isinstance(sample, tuple) else ""
            if part:
                other = self.number(1, lambda v: type(v) is int)[0]
            return self.simple(f"{made} = {name}{part} if {test} else {other}")
        if which < 0.62 or is_array(sample):
            return self.simple(f"{made} = {name} {r.choice(('is', 'is not'))} None")
        if which < 0.7:
            other = self.like_maybe(sample) if r.random() < 0.8 else "None"
            return self.simple(f"{made} = {name} {r.choice(('==', '!='))} {other}")
        if which < 0.78 and is_number(sample):
            return self.simple(f"{made} = {name} or {self.like_maybe(sample)}")
        if which < 0.84:
            return self.simple(f"{made} = {r.choice(('not ', 'bool'))}({name})")
        if which < 0.88 and type(sample) is int:
            return self.count_down(name)
        if which < 0.94 and is_number(sample):
            op = r.choice(ARITHMETIC[:8])
            return self.simple(f"{made} = {name} {op} {self.like_maybe(sample)}")
        if is_real(sample):
            return self.simple(f"{made} = {name} < {self.like_maybe(sample)}")
        if isinstance(sample, tuple):
            return self.simple(f"{made}, {self.fresh()} = {name}")
        return self.simple(f"{made} = {name} is not None and {name} == {self.like_maybe(sample)}")

    def where_there(self, head, name):
        """A block in which the name is one like others."""
        self.emit(head)
        self.hidden.discard(name)
        held = name in self.fixed
        self.fixed.add(name)
        try:
            self.block(self.r.randint(1, 3))
        finally:
            self.hidden.add(name)
            if not held:
                self.fixed.discard(name)

    def count_down(self, name):
        count = self.fresh("w")
        self.simple(f"{count} = 0")
        self.emit(f"while {name} is not None and {count} < 5:")
        for line in (f"{count} += 1", f"{name} = {name} - 2 if 0 < {name} < 9 else None"):
            self.lines.append((self.level + 1, line))

    def optional(self):
        """A function of the module that gives a number or None."""
        r = self.r
        name = self.fresh("h")
        samples = [r.choice((1, 2.5, 3)) for _ in range(r.randint(1, 2))]
        names = [self.fresh("p") for _ in samples]
        held = dict(self.ns)
        self.ns.update(zip(names, samples))
        try:
            value, test = self.number(2), self.condition(2)[0]
        finally:
            self.ns = held
        ways = [
            [f"if {test}:", f"    return {value[0]}"],
            [f"if {test}:", "    return None", f"return {value[0]}"],
            [f"return {value[0]} if {test} else None"],
            ["for _ in range(2):", f"    if {test}:", f"        return {value[0]}", "return None"],
        ]
        lines = [f"def {name}({', '.join(names)}):", *("    " + n for n in r.choice(ways))]
        self.run("\n".join(lines))
        for line in lines:
            self.emit(line)
        self.hidden.add(name)
        self.options.append((name, samples, value[1]))

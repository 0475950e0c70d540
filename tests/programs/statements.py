"""Statements: each is run on the samples, which says what comes after it may use."""

from __future__ import annotations

import contextlib
import copy

import numpy as np

from .expressions import ARITHMETIC, Reject
from .kinds import COMMON, is_array, is_bool, is_integer, is_number, is_real, is_text, kind_of


class Statements:
    def body(self, count: int):
        """Up to so many statements at this level; at least one line."""
        before = len(self.lines)
        for _ in range(count):
            for _ in range(6):
                try:
                    getattr(self, "do_" + self.pick(self.choices()))()
                except Reject:
                    continue
                break
        if len(self.lines) == before:
            self.emit("pass")

    def choices(self):
        all_ = SIMPLE
        if self.level <= self.features.depth:
            all_ = all_ + BLOCKS
        if self.rich:
            all_ = all_ + [("dict", 25)]
        if self.wordy:
            all_ = all_ + [("string", 15)]
        if self.unsure:
            all_ = all_ + [("none", 15)]
        if self.tries and self.level <= self.features.depth:
            all_ = all_ + [("try", 8)]
        if self.sets:
            all_ = all_ + [("set", 15)]
        if self.lazily:
            all_ = all_ + [("yielder", 15)]
        if self.newest_too:
            all_ = all_ + [("newer", 25)]
        if self.latest_too:
            all_ = all_ + [("latest", 25)]
        if self.recorded:
            all_ = all_ + [("records", 60)]
        if self.loops:
            all_ = all_ + [("leave", 3)]
        if self.level == 1:
            all_ = all_ + [("function", 2), ("value", 6)]
        return all_

    def simple(self, text: str):
        self.run(text)
        self.emit(text)

    def value(self, depth=None):
        """Any expression: number, array, list or tuple."""
        depth = self.r.choice((1, 2, 2, 3)) if depth is None else depth
        which = self.r.random()
        if which < 0.5 or self.scalar:
            return self.number(depth)
        if which < 0.86:
            return self.array(depth)
        if which < 0.93:
            return self.list(depth)
        items = [self.number(1) for _ in range(self.r.randint(1, 3))]
        return self.evaluate(
            "(" + "".join(f"{{{k}}}, " for k in range(len(items))).strip() + ")", *items
        )

    # ---- assignments -----------------------------------------------------------------------------
    def do_value(self):
        self.simple(f"{self.fresh()} = {self.value()[0]}")

    def assignable(self, test=None):
        return [n for n in self.names(test) if n not in self.fixed]

    def do_again(self):
        """A name that is given another value, of the same kind inside of blocks."""
        names = self.assignable(lambda v: not callable(v) and not is_text(v))
        name = self.r.choice(names or [None])
        if name is None:
            raise Reject
        old = self.ns[name]
        if self.level == 1 and self.r.random() < 0.3:
            value = self.value()
        else:
            value = self.like(old, 2)
        self.simple(f"{name} = {value[0]}")

    def do_augment(self):
        names = self.assignable(lambda v: is_number(v) or is_array(v))
        if not names:
            raise Reject
        name = self.r.choice(names)
        old = self.ns[name]
        op = self.r.choice(ARITHMETIC)
        if op in ("**", "<<", ">>"):
            value = self.small()
        elif is_array(old) and self.r.random() < 0.4:
            value = self.array(1)
        else:
            value = self.number(2)
        self.change(name, f"{name} {op}= {value[0]}")

    def change(self, name: str, text: str):
        """A statement that changes what a name holds, not its kind."""
        old = self.ns[name]
        kept = old.copy() if is_array(old) else copy.deepcopy(old)
        self.run(text)
        try:
            if kind_of(self.ns[name]) != kind_of(old):
                raise Reject
            self.accepted(self.ns[name])
        except Reject:
            self.ns[name] = kept
            raise
        self.emit(text)

    def do_store(self):
        """Into an element or a part of an array, or into a list."""
        r = self.r
        lists = self.names(lambda v: isinstance(v, list) and v)
        if lists and r.random() < 0.25:
            name = r.choice(lists)
            old = self.ns[name]
            key = self.index(len(old))
            value = self.like(old[0], 2)
            return self.change(name, f"{name}[{key[0]}] {r.choice(('=', '=', '+='))} {value[0]}")
        name = r.choice(self.names(lambda v: is_array(v) and v.flags.writeable) or [None])
        if name is None:
            raise Reject
        a = self.ns[name]
        if r.random() < 0.6:
            keys = ", ".join(self.index(n)[0] for n in a.shape) or "()"
        else:
            text, parts = self.key(a)
            keys = text.format("", *[t for t, _ in parts])
        value = self.number(2) if r.random() < 0.75 or self.scalar else self.array(1)
        op = r.choice(("=", "=", "=", "+=", "-=", "*="))
        self.change(name, f"{name}[{keys}] {op} {value[0]}")
        return None

    def do_list(self):
        r = self.r
        names = self.names(lambda v: isinstance(v, list) and v and is_number(v[0]))
        if not names:
            raise Reject
        name = r.choice(names)
        item = self.like(self.ns[name][0], 1)[0]
        self.change(
            name,
            r.choice((
                f"{name}.append({item})", f"{name}.append({item})", f"{name}.extend([{item}])",
                f"{name}.insert({self.small()[0]}, {item})", f"{name} += [{item}]",
                f"{name}.reverse()", f"{name}.sort()", f"{name}.pop()", f"{name}.pop(0)",
                f"{name}.remove({item})", f"del {name}[0]",
            )),
        )  # fmt: skip

    def do_order(self):
        """Lists that are sorted or compared."""
        r = self.r
        names = self.names(lambda v: isinstance(v, list) and v)
        if not names or self.scalar or self.data.special:
            raise Reject  # where one is no number, the way of sorting decides
        name = r.choice(names)
        first, made = self.ns[name][0], self.fresh()
        keys = ["len", "lambda s: s[:1]"] if is_text(first) else []
        keys += ["lambda p: p[-1]", "lambda p: p[0]"] if isinstance(first, tuple) else []
        keys += ["lambda x: x % 3"] if is_integer(first) else []
        keys += ["lambda x: -x", "abs"] if is_real(first) else []
        if keys and r.random() < 0.5:
            how = f"key={r.choice(keys)}"
            how += r.choice(("", "", ", reverse=True", ", reverse=False"))
        else:
            how = r.choice(("", "reverse=True"))
        which = r.random()
        if which < 0.3:
            return self.change(name, f"{name}.sort({how})")
        if which < 0.6:
            return self.simple(f"{made} = sorted({name}{', ' + how if how else ''})")
        if which < 0.75 and (is_text(first) or isinstance(first, tuple)):
            return self.simple(f"{made} = {r.choice(('min', 'max'))}({name})")
        kind = kind_of(first)
        others = self.names(lambda v: isinstance(v, list) and v and kind_of(v[0]) == kind)
        op = r.choice(("==", "!=", "<", "<=", ">", ">="))
        return self.simple(f"{made} = {name} {op} {r.choice(others)}")

    def do_unpack(self):
        names = [self.fresh(), self.fresh()]
        if self.r.random() < 0.3:
            same = self.assignable(is_number)
            if len(same) > 1:
                a, b = self.r.sample(same, 2)
                if kind_of(self.ns[a]) == kind_of(self.ns[b]):
                    return self.simple(f"{a}, {b} = {b}, {a}")
        which = self.r.random()
        if which < 0.3:
            t = self.variable(lambda v: isinstance(v, tuple) and len(v) == 2)
            return self.simple(f"{', '.join(names)} = {t[0]}")
        if which < 0.45:
            a = self.variable(lambda v: is_array(v) and v.ndim and v.shape[0] == 2)
            return self.simple(f"{', '.join(names)} = {a[0]}")
        if which < 0.6:
            x, y = self.number(2, is_real), self.number(2, is_real)
            return self.simple(f"{', '.join(names)} = divmod({x[0]}, {y[0]})")
        if which < 0.7:
            a, b, c = (self.number(1, lambda v: type(v) is int) for _ in range(3))
            return self.simple(f"{names[0]}, *{names[1]} = {a[0]}, {b[0]}, {c[0]}")
        return self.simple(f"{', '.join(names)} = {self.value(2)[0]}, {self.value(2)[0]}")

    # ---- blocks ----------------------------------------------------------------------------------
    def block(self, count: int, names=()):
        """A block's statements; what it names is forgotten after it, or may have no value there."""
        known = set(self.ns)
        self.level += 1
        self.body(count)
        self.level -= 1
        self.forget([n for n in self.ns if n not in known])

    def forget(self, names):
        for name in names:
            value = self.ns[name]
            plain = name not in self.hidden and name not in self.maybes and (
                is_number(value) or is_array(value) or is_text(value))  # fmt: skip
            if not (self.unset and plain and self.r.random() < 0.3):
                del self.ns[name]

    def do_if(self):
        r = self.r
        self.emit(f"if {self.condition(2)[0]}:")
        self.block(r.randint(1, 3))
        while r.random() < 0.2:
            self.emit(f"elif {self.condition(2)[0]}:")
            self.block(r.randint(1, 2))
        if r.random() < 0.5:
            self.emit("else:")
            self.block(r.randint(1, 2))

    def do_both(self):
        """A name that both sides of a branch give a value of one kind."""
        name = self.fresh()
        test = self.condition(2)[0]
        first = self.value(2)
        second = self.like(first[1], 2) if is_number(first[1]) or is_array(first[1]) else first
        self.run(f"{name} = {first[0]}")
        self.emit(f"if {test}:")
        self.lines.append((self.level + 1, f"{name} = {first[0]}"))
        self.emit("else:")
        self.lines.append((self.level + 1, f"{name} = {second[0]}"))

    def iterable(self):
        """What a for loop goes over: its head's target and text, and samples of the names."""
        r = self.r
        name = self.fresh("i")
        which = r.random()
        if self.names(lambda v: isinstance(v, dict) and v) and r.random() < 0.4:
            return self.over_dict(name)
        if self.wordy and r.random() < 0.4:
            return self.over_string(name)
        if r.random() < 0.12:
            return self.over_generator(name) if r.random() < 0.5 else self.over_rows(name)
        if which < 0.5:
            n = self.small()
            ways = [f"range({n[0]})", f"range({r.randint(-2, 2)}, {n[0]})",
                    f"range({n[0]}, {r.randint(-3, 0)}, -1)", f"range(0, {n[0]} + 4, 2)",
                    f"reversed(range({n[0]}))"]  # fmt: skip
            return name, r.choice(ways), {name: r.choice((0, 1))}
        if which < 0.65:
            a = self.variable(lambda v: is_array(v) and v.ndim == 1 and v.size)
            if r.random() < 0.5:
                return name, a[0], {name: a[1][0]}
            if r.random() < 0.5:
                return name, f"range(len({a[0]}))", {name: 0}
            other = self.fresh("i")
            return f"{name}, {other}", f"enumerate({a[0]})", {name: 0, other: a[1][0]}
        if which < 0.75:
            l = self.list(1)
            if not l[1]:
                raise Reject
            return name, l[0], {name: l[1][0]}
        if which < 0.85:
            a = self.variable(lambda v: is_array(v) and v.ndim == 1 and v.size)
            b = self.variable(lambda v: is_array(v) and v.ndim == 1 and v.size)
            other = self.fresh("i")
            return f"{name}, {other}", f"zip({a[0]}, {b[0]})", {name: a[1][0], other: b[1][0]}
        if which < 0.93:
            items = [self.number(1, lambda v: type(v) is float) for _ in range(2)]
            text = "(" + ", ".join(t for t, _ in items) + ")"
            return name, text, {name: items[0][1]}
        a = self.variable(lambda v: is_array(v) and v.ndim == 2 and v.shape[0])
        return name, a[0], {name: a[1][0]}

    def do_for(self):
        fixed = set(self.fixed)
        target, over, samples = self.iterable()
        self.emit(f"for {target} in {over}:")
        known = set(self.ns)
        self.ns.update(samples)
        if self.r.random() < 0.8:
            self.fixed |= set(samples)
        self.loops.append("for")
        first = len(self.lines)
        self.block(self.r.randint(1, 3))
        self.loops.pop()
        leaves = any(line == "break" for _, line in self.lines[first:])
        self.forget([n for n in self.ns if n not in known])
        self.fixed = fixed | (self.fixed & set(samples))
        # An else tells whether the loop was left.
        if self.r.random() < (0.6 if leaves else 0.12):
            self.emit("else:")
            self.block(1)

    def do_while(self):
        r = self.r
        name = self.fresh("w")
        start = self.small()
        self.simple(f"{name} = {start[0]}")
        self.fixed.add(name)
        test = f"{name} < {r.randint(1, 6)}"
        if r.random() < 0.4:
            test += f" {r.choice(('and', 'and', 'or'))} {self.condition(1)[0]}"
            if " or " in test:
                test = f"{name} < 9 and ({test})"
        self.emit(f"while {test}:")
        self.lines.append((self.level + 1, f"{name} += 1"))
        self.loops.append("while")
        self.block(r.randint(1, 3))
        self.loops.pop()
        if r.random() < 0.1:
            self.emit("else:")
            self.block(1)

    def do_leave(self):
        word = self.r.choice(("break", "continue"))
        self.emit(f"if {self.condition(2)[0]}:")
        self.lines.append((self.level + 1, word))

    def do_return(self):
        """An early return; which names it gives is known at the end."""
        if self.returns is None:
            held = {n: kind_of(v) for n, v in self.ns.items() if n not in self.hidden}
            for n, v in self.maybes.items():
                if n in self.ns:
                    held[n] = "maybe", kind_of(v)
            self.emit(f"if {self.condition(2)[0]}:")
            self.lines.append((self.level + 1, held))
            return
        self.emit(f"if {self.condition(2)[0]}:")
        kind = self.returns
        value = self.number(1, lambda v: kind_of(v) == kind)
        self.lines.append((self.level + 1, f"return {value[0]}"))

    def do_raise(self):
        r = self.r
        if r.random() < 0.3:
            self.emit(f"assert {self.condition(2)[0]}, 'own {r.randrange(100)}'")
            return
        cls = r.choice(("ValueError", "IndexError", "ZeroDivisionError", "OverflowError",
                        "RuntimeError", "KeyError", "TypeError", "ArithmeticError"))  # fmt: skip
        self.emit(f"if {self.condition(2)[0]}:")
        self.lines.append((self.level + 1, f"raise {cls}({self.message()})"))

    def do_try(self):
        r = self.r
        if self.scalar:
            raise Reject
        self.emit("try:")
        if r.random() < 0.8:
            self.level += 1
            with contextlib.suppress(Reject):
                self.fails()
            self.level -= 1
        self.block(r.randint(1, 2))
        names = r.sample(CAUGHT, r.choice((0, 1, 1, 1, 2, 2)))
        for name in names:
            both = f"({name}, {r.choice(CAUGHT)})" if r.random() < 0.2 else name
            bound = f" as {self.fresh('e')}" if r.random() < 0.2 else ""
            self.emit(f"except {both}{bound}:")
            self.block(r.randint(1, 2))
            if r.random() < 0.15:
                again = f"raise {bound[4:]}" if bound and r.random() < 0.5 else "raise"
                self.emit(f"    if {self.condition(1)[0]}:")
                self.emit(f"        {again}")
        if names and r.random() < 0.25:
            self.emit("else:")
            self.block(1)
        if not names or r.random() < 0.3:
            self.emit("finally:")
            self.block(r.randint(1, 2))

    def fails(self):
        """A statement that raises for some values, which is not run on the samples."""
        r = self.r
        which = r.random()
        if which < 0.25:
            return self.do_raise()
        names = self.assignable(lambda v: type(v) is int)
        name = r.choice(names or [None])
        if name is None:
            raise Reject
        number = self.number(1, lambda v: type(v) is int)[0]
        if which < 0.6:
            return self.emit(f"{name} = {number} {r.choice(('//', '%'))} {self.small()[0]}")
        if which < 0.75 and self.names(lambda v: isinstance(v, dict) and v):
            d, entries = self.a_dict()
            key, value = self.entry(entries)
            if type(value) is int:
                return self.emit(f"{name} = {d}[{self.dict_key(key)}]")
        lists = self.names(lambda v: isinstance(v, list) and v and type(v[0]) is int)
        if lists:
            return self.emit(f"{name} = {r.choice(lists)}[{self.small()[0]} + {r.randint(0, 2)}]")
        arrays = self.names(lambda v: is_array(v) and v.ndim == 1)
        if not arrays:
            raise Reject
        index = f"{r.choice(arrays)}[{self.small()[0]} + {r.randint(0, 2)}]"
        return self.emit(f"{self.fresh()} = {index}")

    # ---- functions -------------------------------------------------------------------------------
    def do_function(self):
        """A function inside of the function, which sees its names."""
        r = self.r
        name = self.fresh("g")
        samples = [r.choice((1, 2.5, 3)) for _ in range(r.randint(0, 2))]
        names = [self.fresh("p") for _ in samples]
        held = dict(self.ns)
        self.ns.update(zip(names, samples))
        try:
            value = self.number(2)
        finally:
            self.ns = held
        if r.random() < 0.5:
            text = f"{name} = lambda {', '.join(names)}: {value[0]}"
            self.run(text)
            self.emit(text)
            keywords = 0
        else:
            keywords = r.choice((0, 0, 1)) if samples else 0
            heads = list(names)
            if keywords:
                heads[-1] += f"={samples[-1]}"
            text = f"def {name}({', '.join(heads)}):\n    return {value[0]}"
            self.run(text)
            for line in text.split("\n"):
                self.emit(line)
        self.hidden.add(name)
        self.functions = self.functions + [(name, samples, keywords, names)]

    def helper(self):
        """A function of the module, compiled along."""
        r = self.r
        name = self.fresh("h")
        samples, heads, names = [], [], []
        keywords = 0
        held, fixed = dict(self.ns), set(self.fixed)
        for k in range(r.randint(1, 3)):
            p = self.fresh("p")
            which = r.random()
            if which < 0.3:
                t = r.choice(COMMON)
                text = self.data.array(t, (r.choice((1, 2, 3, 4)),), "C")
                sample = eval(text, {"np": np, "complex": complex})
            else:
                sample = eval(
                    self.data.number(r.choice(("int64", "float64", "int64", "float64", "bool"))),
                    {"np": np},
                )
            samples.append(sample)
            names.append(p)
            if k and not is_array(sample) and (keywords or r.random() < 0.4):
                if sample == sample and abs(sample) != np.inf:
                    keywords += 1
                    heads.append(f"{p}={sample!r}")
                    continue
            if keywords:  # no parameter without a default after one with
                heads.append(f"{p}=1")
                keywords += 1
                samples[-1] = 1
                continue
            heads.append(p)
        for n, v in zip(names, samples):
            self.ns[n] = v.copy() if is_array(v) else v
        start = len(self.lines)
        recursive = r.random() < 0.15 and type(samples[0]) is int
        self.emit(f"def {name}({', '.join(heads)}):")
        self.level = 1
        if r.random() < 0.2 and not recursive:
            outer, self.returns = self.returns, "never"
            self.returns = r.choice(("int", "float"))
            self.body(r.randint(1, 3))
            kind = self.returns
            result = self.number(2, lambda v: kind_of(v) == kind)
            self.returns = outer
        else:
            if recursive:
                rest = ", ".join([f"{names[0]} - 1", *names[1:]])
                base = self.number(1, lambda v: type(v) is float)
                self.emit(f"if {names[0]} <= 0:")
                self.lines.append((2, f"return {base[0]}"))
                step = self.number(1, is_real)
                result = f"float({step[0]} + {name}({rest}))", None
                samples[0] = 3
            else:
                returns, self.returns = self.returns, "none at all"
                try:
                    result = self.value(3)
                finally:
                    self.returns = returns
        self.emit(f"return {result[0]}")
        self.level = 0
        text = "\n".join("    " * level + line for level, line in self.lines[start:])
        self.ns, self.fixed = held, fixed
        try:
            self.run(text)
        except Reject:
            del self.lines[start:]
            return
        self.hidden.add(name)
        self.functions = self.functions + [(name, samples, keywords, names)]


CAUGHT = ("ZeroDivisionError", "ZeroDivisionError", "IndexError", "IndexError", "ValueError",
          "OverflowError", "KeyError", "ArithmeticError", "LookupError", "RuntimeError",
          "AssertionError")  # fmt: skip
SIMPLE = [("value", 5), ("again", 4), ("augment", 4), ("store", 5), ("list", 2), ("order", 2),
          ("unpack", 1), ("raise", 0.7), ("return", 0.7), ("point", 2), ("rows", 2), ("text", 1),
          ("dict", 5)]  # fmt: skip
BLOCKS = [("if", 3), ("for", 4), ("while", 1.5), ("both", 1.5), ("prange", 0.5)]
__all__ = ["Statements", "is_bool", "is_integer"]

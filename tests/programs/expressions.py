"""Expressions: each has a text and a sample of its value."""

from __future__ import annotations

import re

import numpy as np

from . import library
from .kinds import (
    COMMON,
    DTYPES,
    is_array,
    is_bool,
    is_integer,
    is_number,
    is_real,
    kind_of,
)

ARITHMETIC = ("+", "+", "-", "-", "*", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
HOLE = re.compile(r"\{([a-z]+[0-9]?)\}")


class Reject(Exception):
    """This attempt leads nowhere; try another."""


class Expressions:
    def pick(self, weighted):
        names, weights = zip(*weighted)
        return self.r.choices(names, weights)[0]

    def attempt(self, make, test=None, times=12):
        for _ in range(times):
            try:
                found = make()
            except Reject:
                continue
            if test is None or test(found[1]):
                return found
        raise Reject

    def variable(self, test):
        found = self.names(test)
        if not found:
            raise Reject
        name = found[-1 - self.r.randrange(min(4, len(found)))] if self.r.random() < 0.5 else (
            self.r.choice(found)
        )  # fmt: skip
        return name, self.ns[name]

    # ---- numbers ---------------------------------------------------------------------------------
    def number(self, depth: int, test=is_number):
        def make():
            if depth <= 0:
                return self.leaf(test)
            which = self.pick(NUMBERS)
            return getattr(self, "number_" + which)(depth - 1)

        try:
            return self.attempt(make, test)
        except Reject:
            return self.leaf(test)

    def leaf(self, test=is_number):
        r = self.r
        if r.random() < 0.75:
            try:
                return self.variable(lambda v: is_number(v) and test(v))
            except Reject:
                pass
        for _ in range(20):
            dtype = r.choice(("int64", "int64", "float64", "float64", "bool", "complex128"))
            text = self.data.number(dtype)
            value = eval(text, {"np": np, "complex": complex})
            if text[0] == "-":
                text = f"({text})"
            if test(value):
                return text, value
        raise Reject

    number_leaf = lambda self, depth: self.leaf()  # noqa: E731

    def small(self):
        """A small Python int, not negative."""
        if self.r.random() < 0.5:
            n = self.r.choice((0, 1, 1, 2, 2, 3, 4))
            return str(n), n
        text, value = self.leaf(lambda v: type(v) is int)
        return self.evaluate("(abs({0}) % " + str(self.r.choice((3, 4, 5))) + ")", (text, value))

    def number_binary(self, depth):
        op = self.r.choice(ARITHMETIC)
        a = self.number(depth)
        if op == "**":
            if self.r.random() < 0.6:
                b = self.r.choice((("2", 2), ("3", 3), ("0.5", 0.5), ("-1", -1), ("0", 0)))
            else:
                b = self.small()
        elif op in ("<<", ">>"):
            b = self.small() if self.r.random() < 0.9 else self.number(depth, is_integer)
        else:
            b = self.number(depth)
        if op in ("/", "//", "%") and self.r.random() < 0.6:
            other = "1.0" if type(b[1]) is float else "1"
            return self.evaluate("({0} " + op + " ({1} or " + other + "))", a, b)
        return self.evaluate("({0} " + op + " {1})", a, b)

    def number_unary(self, depth):
        op = self.r.choice(("-", "-", "+", "~", "not "))
        return self.evaluate(f"({op}{{0}})", self.number(depth))

    def number_compare(self, depth):
        a, b = self.number(depth), self.number(depth)
        if self.r.random() < 0.25:
            ops = [self.r.choice(COMPARE) for _ in range(2)]
            c = self.number(depth)
            kinds = {kind_of(self.evaluate("({0} < {1})", *p)[1]) for p in ((a, b), (b, c))}
            if len(kinds) > 1:
                raise Reject
            return self.evaluate(f"({{0}} {ops[0]} {{1}} {ops[1]} {{2}})", a, b, c)
        return self.evaluate(f"({{0}} {self.r.choice(COMPARE)} {{1}})", a, b)

    def condition(self, depth):
        return self.attempt(
            lambda: self.number_compare(depth) if self.r.random() < 0.7 else self.number(depth),
            lambda v: isinstance(v, (bool, np.bool_)) or self.r.random() < 0.2,
        )

    def same_kind(self, depth):
        a = self.number(depth)
        return a, self.number(depth, lambda v: kind_of(v) == kind_of(a[1]))

    def number_bool(self, depth):
        a, b = self.same_kind(depth)
        return self.evaluate("({0} " + self.r.choice(("and", "or")) + " {1})", a, b)

    def number_ternary(self, depth):
        a, b = self.same_kind(depth)
        return self.evaluate("({0} if {1} else {2})", a, self.condition(depth), b)

    def number_math(self, depth):
        r = self.r
        if r.random() < 0.8:
            return self.evaluate(
                f"math.{r.choice(library.MATH)}({{0}})", self.number(depth, is_real)
            )
        name = r.choice(library.MATH2)
        second = self.small() if name == "ldexp" else self.number(depth, is_real)
        return self.evaluate(f"math.{name}({{0}}, {{1}})", self.number(depth, is_real), second)

    def number_numpy(self, depth):
        if self.r.random() < 0.5:
            return self.evaluate(f"np.{self.r.choice(library.UNARY)}({{0}})", self.number(depth))
        name = self.r.choice(library.BINARY)
        b = self.small() if "shift" in name or name == "power" else self.number(depth)
        return self.evaluate(f"np.{name}({{0}}, {{1}})", self.number(depth), b)

    def number_convert(self, depth):
        return self.template(self.r.choice(library.CONVERSIONS), depth)

    def number_builtin(self, depth):
        return self.template(self.r.choice(library.BUILTINS), depth)

    def number_text(self, depth):
        return self.template(self.r.choice(library.TEXTS), depth)

    def number_reduce(self, depth):
        return self.template(self.r.choice(library.REDUCTIONS), depth)

    def index(self, extent: int | None):
        """An index of an axis; mostly inside, by construction."""
        r = self.r
        if extent is not None and r.random() < 0.5:
            k = r.randrange(-extent, extent) if extent else 0
            return str(k), k
        if r.random() < 0.06:
            return self.leaf(is_integer)
        a = self.leaf(lambda v: type(v) is int)
        return self.evaluate("({0} % " + str(max(extent or 1, 1)) + ")", a)

    def number_element(self, depth):
        r = self.r
        which = r.random()
        if which < 0.75:
            a = self.variable(is_array)
            keys = [self.index(n) for n in a[1].shape]
            if len(keys) == 1 or r.random() < 0.85:
                if not keys:
                    return self.evaluate("{0}[()]", a)
                return self.evaluate(
                    "{0}[" + ", ".join(f"{{{k + 1}}}" for k in range(len(keys))) + "]", a, *keys
                )
            return self.evaluate(
                "{0}" + "".join(f"[{{{k + 1}}}]" for k in range(len(keys))), a, *keys
            )
        if which < 0.9:
            t = self.variable(lambda v: isinstance(v, tuple) and len(v))
            if hasattr(t[1], "_fields") and r.random() < 0.6:
                return self.evaluate("{0}." + r.choice(t[1]._fields), t)
            return self.evaluate("{0}[" + str(r.randrange(-len(t[1]), len(t[1]))) + "]", t)
        l = self.variable(lambda v: isinstance(v, list) and len(v))
        return self.evaluate("{0}[{1}]", l, self.index(len(l[1])))

    def number_call(self, depth):
        """A call of a function of the program's."""
        if not self.functions:
            raise Reject
        name, samples, keywords, names = self.r.choice(self.functions)
        if name not in self.ns:
            raise Reject
        parts, texts, by_name = [], [], []
        named = self.r.randrange(len(samples) + 1) if self.r.random() < 0.3 else len(samples)
        for k, sample in enumerate(samples):
            if k >= len(samples) - keywords and self.r.random() < 0.5:
                if k < named:
                    break
                continue
            part = f"{{{len(parts)}}}"
            parts.append(self.like(sample, depth))
            if k < named:
                texts.append(part)
            else:
                by_name.append(f"{names[k]}={part}")
        self.r.shuffle(by_name)
        texts += by_name
        return self.evaluate(f"{name}({', '.join(texts)})", *parts)

    def like(self, sample, depth):
        """An expression of a sample's kind."""
        kind = kind_of(sample)
        if is_number(sample):
            return self.number(depth, lambda v: kind_of(v) == kind)
        if is_array(sample):
            return self.array(depth, lambda v: kind_of(v) == kind)
        return self.variable(lambda v: kind_of(v) == kind)

    # ---- arrays ----------------------------------------------------------------------------------
    def array(self, depth: int, test=is_array):
        def make():
            if depth <= 0 or self.scalar:
                return self.variable(lambda v: is_array(v) and test(v))
            return getattr(self, "array_" + self.pick(ARRAYS))(depth - 1)

        try:
            return self.attempt(make, lambda v: is_array(v) and test(v))
        except Reject:
            return self.variable(lambda v: is_array(v) and test(v))

    def array_leaf(self, depth):
        return self.variable(is_array)

    def array_binary(self, depth):
        a = self.array(depth)
        b = self.array(depth) if self.r.random() < 0.5 else self.number(depth)
        if self.r.random() < 0.3:
            a, b = b, a
        op = self.r.choice(ARITHMETIC)
        if op in ("**", "<<", ">>"):
            b = self.small()
        return self.evaluate("({0} " + op + " {1})", a, b)

    def array_unary(self, depth):
        return self.evaluate(f"({self.r.choice('-+~')}{{0}})", self.array(depth))

    def array_compare(self, depth):
        b = self.array(depth) if self.r.random() < 0.4 else self.number(depth)
        return self.evaluate(f"({{0}} {self.r.choice(COMPARE)} {{1}})", self.array(depth), b)

    def array_numpy(self, depth):
        if self.r.random() < 0.5:
            return self.evaluate(f"np.{self.r.choice(library.UNARY)}({{0}})", self.array(depth))
        name = self.r.choice(library.BINARY)
        b = self.array(depth) if self.r.random() < 0.5 else self.number(depth)
        if "shift" in name or name == "power":
            b = self.small()
        return self.evaluate(f"np.{name}({{0}}, {{1}})", self.array(depth), b)

    def key(self, a):
        """A subscript of an array: its text, and the parts in it."""
        r, keys, parts = self.r, [], []

        def part(found):
            parts.append(found)
            return f"{{{len(parts)}}}"

        if a.ndim and r.random() < 0.12:
            return part(self.array(1, lambda v: v.dtype == bool and v.shape == a.shape)), parts
        for n in a.shape:
            which = r.random()
            if which < 0.4:
                ends = [part(self.index(n)) if r.random() < 0.6 else "" for _ in range(2)]
                step = r.choice(("", "", "", ":2", ":-1", ":-2", ":3"))
                keys.append(ends[0] + ":" + ends[1] + step)
            elif which < 0.65:
                keys.append(part(self.index(n)))
            elif which < 0.72 and n:
                k = [str(r.randrange(-n, n)) for _ in range(r.randint(1, 3))]
                keys.append(part((f"np.array([{', '.join(k)}])", np.array(list(map(int, k))))))
            elif which < 0.8:
                keys.append("None")
                keys.append(":")
            else:
                keys.append(":")
        while keys and keys[-1] == ":" and r.random() < 0.5:
            keys.pop()
        if r.random() < 0.1:
            keys.append("...")
        if not keys:
            keys = [":"] if a.ndim else ["..."]
        return ", ".join(keys), parts

    def array_slice(self, depth):
        a = self.array(depth) if self.r.random() < 0.3 else self.variable(is_array)
        text, parts = self.key(a[1])
        return self.evaluate("{0}[" + text + "]", a, *parts)

    def array_library(self, depth):
        return self.template(self.r.choice(library.ARRAYS), depth)

    def array_reduce(self, depth):
        return self.template(self.r.choice(library.REDUCTIONS), depth)

    # ---- templates -------------------------------------------------------------------------------
    def template(self, text: str, depth: int):
        text = re.sub("«([^»]*)»", lambda m: m[1] if self.r.random() < 0.35 else "", text)
        parts, first = [], None

        def fill(found):
            nonlocal first
            what = found[1]
            if what == "axis":
                n = max(first.ndim, 1) if first is not None else 1
                return str(self.r.randrange(-n, n))
            if what == "t":
                t = self.r.choice(COMMON)
                return "np.bool_" if t == "bool" else "np." + t
            if what == "k":
                return str(self.r.randrange(4))
            if what == "k2":
                return str(self.r.randrange(2))
            part = self.part(what, depth)
            if first is None and is_array(part[1]):
                first = part[1]
            parts.append(part)
            return f"{{{len(parts) - 1}}}"

        return self.evaluate(HOLE.sub(fill, text), *parts)

    def part(self, what: str, depth: int):
        if what == "s":
            return self.number(depth)
        if what == "x":
            return self.number(depth, is_real)
        if what == "n":
            return self.small()
        if what == "c":
            return self.condition(depth)
        if what == "l":
            return self.list(depth)
        if what == "z":
            return self.text(depth)
        ndim = int(what[1]) if len(what) > 1 else None
        kinds = {"a": "biufc", "f": "f", "i": "iu"}[what[0]]
        return self.array(
            min(depth, 1),
            lambda v: v.dtype.kind in kinds and (ndim is None or v.ndim == ndim),
        )

    def list(self, depth):
        r = self.r
        if self.scalar:
            raise Reject
        if r.random() < 0.5:
            try:
                return self.variable(lambda v: isinstance(v, list))
            except Reject:
                pass
        which = r.random()
        if which < 0.5:
            first = self.number(depth)
            kind = kind_of(first[1])
            items = [first] + [
                self.number(depth, lambda v: kind_of(v) == kind) for _ in range(r.randint(0, 3))
            ]
            return self.evaluate(
                "[" + ", ".join(f"{{{k}}}" for k in range(len(items))) + "]", *items
            )
        if which < 0.75:
            name = self.fresh("k")
            self.ns[name] = 0
            try:
                item = self.number(depth)
            finally:
                del self.ns[name]
            if any(c in item[0] for c in "{}"):
                raise Reject
            return self.evaluate(f"[{item[0]} for {name} in range({{0}})]", self.small())
        return self.evaluate("([{0}] * {1})", self.number(depth), self.small())


NUMBERS = [("text", 0.5), ("dict", 4), ("string", 2), ("leaf", 2), ("binary", 9), ("unary", 2),
           ("compare", 2), ("bool", 1), ("ternary", 2), ("math", 3), ("numpy", 3), ("convert", 2),
           ("builtin", 3), ("reduce", 2), ("element", 5), ("call", 3)]  # fmt: skip
ARRAYS = [("leaf", 3), ("binary", 6), ("unary", 1), ("compare", 1), ("numpy", 3), ("slice", 6),
          ("library", 7), ("reduce", 1)]  # fmt: skip
__all__ = ["DTYPES", "Expressions", "Reject", "is_bool"]

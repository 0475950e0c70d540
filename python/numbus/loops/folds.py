"""sum(), min(), max(), any() and all() in loops: of lists and arrays, and of expressions of their
items.

Each is a loop of its own inside of a statement. It has no effect, so that the statement can be left
to CPython from within it.
"""

import ast
import copy
import sys

from . import heads, numbers
from .generators import as_loop, generator
from .numbers import Unsupported, Value

_ZEROS = {"i": "0", "f": "0.0", "b": "False"}


class _Renamed(ast.NodeTransformer):
    """Gives the names in the head of a generator expression names that no others have."""

    def __init__(self, names, number):
        self._names = {n: f"{n}·{number}" for n in names}

    def visit_Name(self, node):
        name = self._names.get(node.id, node.id)
        return ast.copy_location(ast.Name(name, node.ctx), node)


class Folds:
    """The part of an emitter that emits them."""

    bound = {}  # noqa: RUF012 - names of generator expressions: values

    def fold(self, name, n, env):
        """A call of one of NAMES with one argument."""
        if not self.checks_now:
            raise Unsupported(f"{name}() in a strip")
        g = generator(n)
        if g is None:
            if heads.name_of(n.args[0]) is None:
                raise Unsupported(f"{name}() of this")
            of = ast.comprehension(ast.Name("x", ast.Store()), n.args[0], [], 0)
            g = ast.copy_location(ast.GeneratorExp(ast.Name("x", ast.Load()), [of]), n)
        before = self.bound
        try:
            g, number = self.renamed(g)
            return self._fold(name, g, env, f"r{number}", f"n{number}")
        finally:
            self.bound = before

    def renamed(self, g):
        """A generator expression, or a comprehension, with names that no others have, and their
        number.
        """
        self.temporaries += 1
        number, of = self.temporaries, g.generators[0]
        names = heads.targets(as_loop(g))
        if names is None:
            raise Unsupported("a generator of other names")
        renamed = _Renamed(names, number)
        elt, target, *ifs = (renamed.visit(copy.deepcopy(x)) for x in (g.elt, of.target, *of.ifs))
        made = ast.GeneratorExp(elt, [ast.comprehension(target, of.iter, ifs, 0)])
        return ast.copy_location(made, g), number

    def _fold(self, name, g, env, r, count):
        loop, k = as_loop(g), f"k_{r}"
        loop.at = r
        over = heads.over(loop)
        args = (self._over_items if over else self._over_range)(loop, over, env, k)
        self.line(f"{count} = 0")
        at = len(self.lines)
        self.block(f"for {k} in range({', '.join(args)}):")
        self.check("interrupted()")
        for test in g.generators[0].ifs:
            self._put([f"if not ({self.truth(test, env)}):", "    continue"])
        if name in ("any", "all"):
            self._before_loop(at, f"{r} = {name == 'all'}")
            self.block(f"if {'not ' if name == 'all' else ''}{self.truth(g.elt, env)}:")
            self._put([f"{r} = {name == 'any'}", "break"])
            self.level -= 2
            return Value(r, "b")
        v = self._kept(self.value(g.elt, env))
        kind = "i" if name == "sum" and v.kind == "b" else v.kind
        if kind not in numbers.CODES or kind in {*numbers.NO_NUMBERS, "B", "c"}:
            raise Unsupported(f"{name}() of items of this type")
        of_numpy = kind in numbers.FLOATS and kind in numbers.NUMPYS
        self._before_loop(at, f"{r} = {'False' if kind == 'b' else _ZEROS[numbers.STORES[kind]]}")
        if name == "sum":
            if kind == "f" and sys.version_info >= (3, 12):
                raise Unsupported("sum() of floats, which loses no digits")
            made = numbers.binary(self, ast.Add, Value(r, kind, of_numpy), v)
            if made.kind != kind:
                raise Unsupported("sum() of items of this type")
            self.line(f"{r} = {made.text}")
        else:
            better = numbers.compare(self, ast.Gt if name == "max" else ast.Lt, v, Value(r, kind))
            self._put([f"if {count} == 0 or {better.text}:", f"    {r} = {v.text}"])
        self.line(f"{count} = 1")
        self.end()
        if name != "sum" or kind != "i":  # of nothing: an error, or an int
            self.check(f"{count} == 0")
        return numbers.settled(self, Value(r, kind, name == "sum" and of_numpy))

    def _before_loop(self, at, text):
        """Puts a line before the loop, which begins with the line of this number."""
        level = len(self.lines[at]) - len(self.lines[at].lstrip())
        self.lines.insert(at, " " * level + text)

    def _over_range(self, loop, _, env, k):
        if not isinstance(loop.target, ast.Name):
            raise Unsupported("an unpacking")
        call, backwards = heads.range_of(loop.iter)
        if backwards or "range" in self.entry or self.fixed.get("range") != ("call", "range"):
            raise Unsupported("a range of this kind")
        args = [self._kept(self.value(a, env)) for a in call.args]
        for a in args:
            if a.kind not in numbers.INTEGERS:
                raise Unsupported("range() of something else than integers")
            self.check(f"{a.text} > {1 << 61} or {a.text} < {-(1 << 61)}")
        if len(args) == 3:
            self.check(f"{args[2].text} == 0")
        self.bound = {**self.bound, loop.target.id: Value(k, "i")}
        return [a.text for a in args]

    def _over_items(self, loop, over, env, k):
        parts = self._sequences(loop, over, env, ("ours",))  # none grows meanwhile
        if over.around and self.fixed.get(over.around) != ("call", over.around):
            raise Unsupported(f"{over.around}(…) that is not Python's")
        for r, names in zip(over.ranges, heads.ranges(loop)):
            self._bounds_of_range(r, names, env)
        end = self.temporary(self._count(parts[0]))
        for part in parts[1:]:
            self.line(f"{end} = min({end}, {self._count(part)})")
        values = []
        for part in parts:
            if isinstance(part, heads.Numbers):
                values.append(Value(f"({part.first} + {k} * {part.step})", "i"))
                continue
            array, at = part
            if array[3] - len(at) > 1:
                raise Unsupported("rows in an expression of items")
            values.append(numbers.load(array, self.index(array, at, k)))
        if over.around == "enumerate":
            values.insert(0, Value(f"({k} + {over.start})", "i"))
        self.bound = {**self.bound, **dict(zip(heads.targets(loop), values))}
        return [end]

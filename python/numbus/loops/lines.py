"""Slices and rows of arrays in loops: what is computed of all their elements at once.

An expression of them is a Line, whose elements are computed where a statement asks for all of
them: first into memory of its own, with all checks, and then into what is assigned to, so that
a statement has no effect before it is certain, and operands may overlap what is assigned to.
"""

import ast

from . import numbers
from .numbers import Unsupported, Value

MOST = 1 << 14  # elements; sums of more are recorded, and are numbers of another type
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Line:
    """Elements that are computed one by one.

    count: the name of how many. element: gives the text of one for the text of its number, and
    emits what computes it. view: the text of a part of an array that has these elements, or None.
    is_ours: whether it is made of Numbus's arrays only. array, index: of a part of an array, the
    text of an element's index for that of its number.
    """

    def __init__(self, count, element, is_ours, array=None, index=None, view=None):
        self.count, self.element, self.is_ours = count, element, is_ours
        self.array, self.index, self.view = array, index, view
        self.is_computed = array is None
        self.of = None  # (indices, first, step) of a part
        self.is_part = False  # rather than a whole array


class Lines:
    """The part of an emitter that computes with slices and rows."""

    scratches = 0  # arrays for elements that are computed before they are stored
    _used = 0  # of these in the present statement

    def operand(self, n, env):
        """A Value or a Line."""
        return self._settled(self._open(n, env))

    def _settled(self, a):
        return numbers.settled(self, a) if isinstance(a, Value) else a

    def _open(self, n, env):
        """The same, where a Value may be open."""
        if isinstance(n, ast.BinOp):
            return self._operation(n, env)
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub):
            if not isinstance(n.operand, ast.Constant):
                a = self._open(n.operand, env)
                if isinstance(a, Line):
                    return self._computed(a.count, lambda t: f"-{a.element(t)}", a.is_ours)
                return numbers.unary(self, ast.USub, a)
        if isinstance(n, (ast.Subscript, ast.Name)):
            found = self._part(n, env)
            if found is not None:
                return found
        return self.value(n, env)

    def _operation(self, n, env):
        known = numbers.known_integer(n)
        if known is not None:
            return numbers.constant(known)
        a, b = self._named(self._open(n.left, env)), self._named(self._open(n.right, env))
        if isinstance(n.op, ast.MatMult):
            return self._product(a, b)
        if not isinstance(a, Line) and not isinstance(b, Line):
            return numbers.binary(self, type(n.op), a, b, n.right)
        return self._elementwise(type(n.op), self._settled(a), self._settled(b))

    def _named(self, a):
        return a if isinstance(a, Line) else self._kept(a)

    def _elementwise(self, op, a, b):
        if op not in _SIGNS:
            raise Unsupported("this operator of parts of arrays")
        sign, lines = _SIGNS[op], [x for x in (a, b) if isinstance(x, Line)]
        for x in lines[1:]:
            self.check(f"{x.count} != {lines[0].count}")
        first, second = (self._getter(x) for x in (a, b))
        if op is ast.Div:
            second = self._divisor(second, b)
        return self._computed(
            lines[0].count,
            lambda t: f"{first(t)} {sign} {second(t)}",
            all(x.is_ours for x in lines),
        )

    def _divisor(self, get, b):
        """Divisors, of which zero is left to CPython."""
        if not isinstance(b, Line):
            self.check(f"{get('')} == 0.0")
            return get

        def element(t):
            y = get(t)
            self.line(f"bad_ |= int({y} == 0.0)")
            if b.is_computed:
                self._note_not_finite(y)
            return self.temporary(f"{y} if {y} != 0.0 else 1.0")

        return element

    def _getter(self, a):
        if isinstance(a, Line):
            if a.array is not None and a.array[1] not in "FG":
                raise Unsupported("parts of arrays of this type")
            if a.of is not None and a.of[2] == "-1":  # whose loop would not be one of vectors
                name = self._new_scratch()
                self.check(f"{a.count} > {MOST}")
                self.line(f"{name}[:{a.count}] = {a.view}")
                return lambda t: self.temporary(f"{name}[{t}]")
            return a.element
        if a.kind not in numbers.FLOATS + numbers.INTEGERS + "b":
            raise Unsupported("a number of this type with a part of an array")
        text = self.temporary(f"float({self._as_int(a)})")
        return lambda _: text

    @staticmethod
    def _as_int(a):
        return f"int({a.text})" if a.kind == "b" else a.text

    def _computed(self, count, text, is_ours):
        """The Line of a text for each element. NumPy warns of most that are not finite, which
        later sums, differences and products are not either.
        """
        return Line(count, lambda t: self.temporary(text(t)), is_ours)

    def _note_not_finite(self, r):
        self.line(f"bad_ |= int(not (abs({r}) <= {numbers.LARGEST}))")

    # --- parts of arrays

    def _part(self, n, env):
        """The Line of a slice, a row or a whole array of one axis, or None."""
        if isinstance(n, ast.Subscript) and any(map(_has_slice, _slices(n.value))):
            inner = self._part(n.value, env) if isinstance(n.slice, ast.Slice) else None
            if inner is not None and inner.array is None:
                raise Unsupported("a part of what is computed")
            return inner and self._slice_of(inner, n.slice, env)
        items, of = [], n
        while isinstance(of, ast.Subscript):
            items[:0] = of.slice.elts if isinstance(of.slice, ast.Tuple) else [of.slice]
            of = of.value
        array, index = self._array(of), []
        if isinstance(of, ast.Name) and of.id in self.entry:
            array, at = self._row_of(of.id, env)
            index = list(at)
        if array is None or array[6] not in numbers.ARRAYS:
            return None
        free = [i for i in items if isinstance(i, ast.Slice)]
        missing = array[3] - len(items) - len(index)
        if missing < 0 or missing + len(free) != 1:
            if missing == 0 and not free and len(items) == 1 == array[3]:
                return self._gathered(array, items[0], env)
            return None
        bounds = None
        for item in [*items, *[ast.Slice()] * missing]:
            axis = len(index)
            if isinstance(item, ast.Slice):
                bounds = self._bounds(f"{array[5]}_{axis}", item, env)
                index.append(None)
            else:
                index.append(self._position(array, axis, self.value(item, env)))
        made = self._view(array, index, *bounds)
        made.is_part = bool(items or made.of[0][:-1])
        return made

    def _view(self, array, index, first, step, count):
        def at(t):
            free = f"{first} + {t}" if step == "1" else f"{first} + ({t}) * {step}"
            return ", ".join(free if i is None else i for i in index)

        view = None
        if step == "1":
            whole = f"{first}:{first} + {count}"
            view = f"{array[5]}[{', '.join(whole if i is None else i for i in index)}]"
        elif step == "-1":
            whole = f"{first} + 1 - {count}:{first} + 1"
            view = f"{array[5]}[{', '.join(whole if i is None else i for i in index)}][::-1]"
        load = lambda t: self.temporary(numbers.load(array, at(t)).text)  # noqa: E731
        made = Line(count, load, array[6] == "ours", array, at, view)
        made.of = index, first, step
        return made

    def _bounds(self, extent, n, env):
        """(first, step, count): the names of where a slice of an axis begins, and so on."""
        step = n.step
        backwards = isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
        if backwards:
            one = isinstance(step.operand, ast.Constant) and step.operand.value == 1
            if not one or type(step.operand.value) is not int or n.lower or n.upper:
                raise Unsupported("a slice that goes backwards")
            return self.temporary(f"{extent} - 1"), "-1", self.temporary(extent)
        ends = self.ends(n, env, extent, ("0", extent), "0", extent)
        if step is None:
            return ends[0], "1", self.temporary(f"max({ends[1]} - {ends[0]}, 0)")
        v = self.value(step, env)
        if v.kind not in numbers.INTEGERS:
            raise Unsupported("a slice whose step is no integer")
        s = self.temporary(v.text)
        self.check(f"{s} <= 0 or {s} > {1 << 61}")
        return ends[0], s, self.temporary(f"(max({ends[1]} - {ends[0]}, 0) + {s} - 1) // {s}")

    def ends(self, n, env, extent, none, least, most):
        """The texts of a slice's two bounds, which are inside of `least` and `most`; none: where
        the source has no bound.
        """
        ends = []
        for bound, missing in zip((n.lower, n.upper), none):
            if bound is None or (isinstance(bound, ast.Constant) and bound.value is None):
                ends.append(missing)
                continue
            v = self.value(bound, env)
            if v.kind not in numbers.INTEGERS:
                raise Unsupported("a slice whose bounds are no integers")
            i = self.temporary(v.text)
            self.block(f"if {i} < 0:")
            self.line(f"{i} = max({i} + {extent}, {least})")
            self.end()
            ends.append(self.temporary(f"min({i}, {most})"))
        return ends

    def _slice_of(self, line, n, env):
        """A slice of a slice."""
        index, first, step = line.of
        more, by, count = self._bounds(line.count, n, env)
        if step != "1" and by != "1":
            raise Unsupported("a slice of a slice, both with steps")
        start = self.temporary(f"{first} + ({more}) * {step}")
        made = self._view(line.array, index, start, by if step == "1" else step, count)
        made.is_part = True
        return made

    def _gathered(self, array, n, env):
        """`x[columns[low:high]]`: the elements at indices that are a Line; None for others."""
        if not isinstance(n, ast.Subscript):
            return None
        where = self._part(n, env)
        if where is None:
            return None
        if where.array is None or where.array[1] not in "IH" or array[1] not in "FG":
            raise Unsupported("indices of this type")
        extent = f"{array[5]}_0"

        def element(t):
            i = self.temporary(where.element(t))
            self.line(f"{i} = {i} if {i} >= 0 else {i} + {extent}")
            self.line(f"bad_ |= int({i} < 0 or {i} >= {extent})")
            self.line(f"{i} = {i} if 0 <= {i} and {i} < {extent} else 0")
            return self.temporary(f"float({array[5]}[{i}])")

        self.check(f"{extent} == 0")
        made = Line(where.count, element, array[6] == "ours" and where.is_ours)
        made.is_computed = False
        return made

    # --- what is computed of all elements

    def _all(self, count, emit):
        """A loop over all elements, and then the check of them."""
        self.check(f"{count} > {MOST}")
        self.line("bad_ = 0")
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.block(f"for {t} in range({count}):")
        emit(t)
        self.end()
        self.check("bad_ != 0")

    def _new_scratch(self):
        if self._called is not None:
            raise Unsupported("parts of arrays in a function")
        self._used += 1
        self.scratches = max(self.scratches, self._used)
        return f"scratch{self._used - 1}"

    def _scratch(self, line):
        """The name of an array that begins with the elements."""
        name = self._new_scratch()

        def emit(t):
            r = line.element(t)
            if line.is_computed:
                self._note_not_finite(r)
            self.line(f"{name}[{t}] = {r}")

        self._all(line.count, emit)
        return name

    def _viewed(self, a):
        """The text of a part of an array with these elements."""
        self._getter(a)  # raises for other types
        if not a.is_ours:
            raise Unsupported("sums of NumPy's arrays, whose order is NumPy's")
        return a.view or f"{self._scratch(a)}[:{a.count}]"

    def _product(self, a, b):
        """`a @ b`: as the core sums products of two lines, in the same order."""
        if not isinstance(a, Line) or not isinstance(b, Line):
            raise Unsupported("a product of a number")
        self.check(f"{a.count} != {b.count} or {a.count} > {MOST}")
        # Of parts of arrays it is a number at once; of what is computed it may be one later.
        are_parts = a.is_part and b.is_part and self.fixed.get("@", "o") != "o"
        x, y = self._viewed(a), self._viewed(b)
        r = self.temporary(f"float(np.sum({x} * {y}))")
        self.check(f"not (abs({r}) <= {numbers.LARGEST})")
        return Value(r, "G" if are_parts else "L")

    def product_of(self, n, env):
        """A call of np.dot() or np.inner()."""
        if len(n.args) != 2:
            raise Unsupported("a product of other than two values")
        return self._product(*(self.operand(a, env) for a in n.args))

    def sum_of(self, n, env):
        """A call of np.sum()."""
        a = self.operand(n.args[0], env) if len(n.args) == 1 else None
        if not isinstance(a, Line):
            raise Unsupported("np.sum() of this")
        self.check(f"{a.count} > {MOST}")
        r = self.temporary(f"float(np.sum({self._viewed(a)}))")
        self.check(f"not (abs({r}) <= {numbers.LARGEST})")
        return Value(r, "L")

    def store(self, n, env):
        """Carries out an assignment to a slice or a row; False: it is to something else."""
        targets = [n.target] if isinstance(n, ast.AugAssign) else n.targets
        if len(targets) != 1 or not isinstance(targets[0], ast.Subscript):
            return False
        target = self._part(targets[0], env)
        if target is None:
            return False
        if target.array is None:
            raise Unsupported("an assignment to elements at indices")
        value = self._named(self.operand(n.value, env))
        if isinstance(n, ast.AugAssign):
            value = self._elementwise(type(n.op), target, value)
        to = lambda t: f"{target.array[5]}[{target.index(t)}]"  # noqa: E731
        if not isinstance(value, Line):
            text = self.temporary(numbers.to_store(self, target.array, value))
            self._fill(target, lambda t: self.line(f"{to(t)} = {text}"))
            return True
        if target.array[1] not in "FG":
            raise Unsupported("parts of arrays of this type")
        self._getter(value)
        numbers.to_store(self, target.array, Value("0.0", "F"))  # raises where it may not be
        self.check(f"{value.count} != {target.count}")
        self._check_strides(target, value)
        scratch = self._scratch(value)
        self._fill(target, lambda t: self.line(f"{to(t)} = {scratch}[{t}]"))
        return True

    def _check_strides(self, target, value):
        """Leaves where NumPy may assign to elements of a part before it reads them from there: it
        goes over both parts one element after the other, in the direction that is right for parts
        of equal strides. What is computed it has in memory of its own.
        """
        a, b = target.array, value.array
        if b is None or a[6] == b[6] == "ours":
            return
        if a[5] != b[5]:
            overlap = "" if (a[5], b[5]) in self.fixed["&"][1] else None
        else:
            steps = target.of[2], value.of[2]
            if _axis(target) == _axis(value) and (steps[0] == steps[1] or "-1" in steps):
                return  # it has a copy in between where the signs of strides differ
            (low, high), (start, end) = self._reach(target), self._reach(value)
            overlap = f" and {low} <= {end} and {start} <= {high} and {target.count} > 1"
        if overlap is not None:
            self.check(f"{self._stride(target)} != {self._stride(value)}{overlap}")

    @staticmethod
    def _stride(line):
        return f"{line.array[5]}.strides[{_axis(line)}] * ({line.of[2]})"

    def _reach(self, line):
        """The names of where the memory of a part begins and ends, from its array's first element
        on.
        """
        index, first, _ = line.of
        places = (f"({first if i is None else i}) * {line.array[5]}.strides[{d}]"
                  for d, i in enumerate(index))  # fmt: skip
        one = self.temporary(" + ".join(places))
        other = self.temporary(f"{one} + ({line.count} - 1) * {self._stride(line)}")
        low, high = f"min({one}, {other})", f"max({one}, {other}) + {line.array[2].itemsize - 1}"
        return self.temporary(low), self.temporary(high)

    def _fill(self, target, emit):
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.check(f"{target.count} > {MOST}")
        self.block(f"for {t} in range({target.count}):")
        emit(t)
        self.end()


def _axis(line):
    """The axis along which a part goes."""
    return line.of[0].index(None)


def _has_slice(n):
    return any(isinstance(i, ast.Slice) for i in (n.elts if isinstance(n, ast.Tuple) else [n]))


def _slices(n):
    while isinstance(n, ast.Subscript):
        yield n.slice
        n = n.value

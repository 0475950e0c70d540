"""From the tree of C text to lines of Python that compile to the same: types, order, scopes."""

import operator

import numpy

from . import maths, types
from .parser import Node
from .tokens import Token, fail

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_FLOAT = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_WHOLE = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_MEMBERS = frozenset(["threadIdx", "blockIdx", "blockDim", "gridDim"])


def zero(t):
    """The text of a type's zero."""
    return "False" if t == "bool" else f"{t}(0)"


class Value:
    """An expression as Python text, with C's type of it; `known` is a constant's NumPy scalar."""

    __slots__ = ("known", "text", "type")

    def __init__(self, text, type, known=None):
        self.text, self.type, self.known = text, type, known


def constant(t, number):
    """The Value of a number, converted as C does."""
    if types.kind(t) in "iu" and isinstance(number, int):
        bits = numpy.dtype(t).itemsize * 8
        number &= (1 << bits) - 1
        if types.kind(t) == "i" and number >> (bits - 1):
            number -= 1 << bits
    with numpy.errstate(all="ignore"):
        known = numpy.asarray(number).astype(t)[()]
    if t == "bool":
        return Value(str(bool(known)), t, known)
    plain = known.item()
    return Value(f"{t}({plain!r})" if plain == plain else f"{t}(nan)", t, known)


def folded(op, t, a, b):
    """The constant `a op b` of two NumPy scalars of type t, or None where it is left to run."""
    if op in ("==", "!=", "<", ">", "<=", ">="):
        return constant("bool", bool(_COMPARE[op](a, b)))
    if types.kind(t) == "f":
        with numpy.errstate(all="ignore"):
            return constant(t, _FLOAT[op](a, b)) if op in _FLOAT else None
    a, b = int(a), int(b)
    if op in "/%":
        if not b:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return constant(t, quotient if op == "/" else a - quotient * b)
    if op in ("<<", ">>") and not 0 <= b < numpy.dtype(t).itemsize * 8:
        return None
    return constant(t, _WHOLE[op](a, b))


class Name:
    """What a C name stands for: a number, an array (`sizes`), a raw argument or an array that a
    function got (`raw`), or a pointer to one number (`pointer`).
    """

    def __init__(self, text, type, writable=True, sizes=None, raw=False, why="a constant",
                 pointer=False):  # fmt: skip
        self.text, self.type, self.writable = text, type, writable
        self.sizes, self.raw, self.why, self.pointer = sizes, raw, why, pointer
        self.rank = None  # of the kernel's own raw arguments


class Array:
    """An array as an argument of a function."""

    def __init__(self, text, type, writable):
        self.text, self.type, self.writable = text, type, writable


class Place:
    """A variable that a function gets the address of, or a reference to."""

    def __init__(self, text, type):
        self.text, self.type = text, type


def names_in(tree):
    """The names of variables that a tree or a list of trees mentions."""
    if isinstance(tree, (list, tuple)):
        return set().union(*[names_in(t) for t in tree]) if tree else set()
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return set()
    found = {tree.name} if tree.kind == "name" else set()
    return found.union(*[names_in(v) for v in vars(tree).values()])


def members_in(tree):
    """The members such as 'shape' that a tree or a list of trees asks for."""
    if isinstance(tree, (list, tuple)):
        return set().union(*[members_in(t) for t in tree]) if tree else set()
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return set()
    found = {tree.name} if tree.kind == "member" else set()
    return found.union(*[members_in(v) for v in vars(tree).values()])


def has(tree, *kinds):
    """Whether a tree or a list of trees holds a node of these kinds."""
    if isinstance(tree, (list, tuple)):
        return any(has(t, *kinds) for t in tree)
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return False
    return tree.kind in kinds or any(has(v, *kinds) for v in vars(tree).values())


class Functions:
    """The functions and constants of a preamble, written out for the types they are called with."""

    def __init__(self, nodes, placeholders):
        self.placeholders = placeholders
        self.constants = [n for n in nodes if n.kind == "declare"]
        self.by_name = {}
        for node in nodes:
            if node.kind == "function":
                self.by_name.setdefault(node.name, []).append(node)
        self.made = {}  # (name, argument types) to (Python name, result type)
        self.lines = []

    def candidates(self, at, name, count):
        """The functions of a name that take so many arguments."""
        found = [f for f in self.by_name[name] if len(f.parameters) == count]
        if not found:
            counts = sorted({len(f.parameters) for f in self.by_name[name]})
            fail(at, f"wrong number of arguments of {name}", count, counts[0])
        return found

    def call(self, at, name, args, template):
        """(Python name, parameter types, result type) for a call.

        args: each a Value, an Array or a Place. Parameters of the latter two have their types.
        """

        def distance(function):
            wanted = [self._type(k, {}, function.templates) for k, _ in function.parameters]
            return sum(w is not None and w != a.type for w, a in zip(wanted, args))

        node = min(self.candidates(at, name, len(args)), key=distance)
        bound = {}
        if template is not None and node.templates:
            bound[node.templates[0]] = template
        for (kind, _), a in zip(node.parameters, args):
            if kind.name in node.templates:
                bound.setdefault(kind.name, a.type)
        for t in node.templates:
            if t not in bound:
                fail(at, f"the type {t} of {name} is not known", f"{name}(…)", f"{name}<type>(…)")
        wanted = tuple(self._type(k, bound, ()) for k, _ in node.parameters)
        for (kind, parameter), a, t in zip(node.parameters, args, wanted):
            if bool(kind.reference) == isinstance(a, Value):
                fail(at, f"the argument {parameter} of {name} does not fit",
                     "a value" if isinstance(a, Value) else "an address or an array",
                     f"{t}{kind.reference}")  # fmt: skip
            if not isinstance(a, Value) and a.type != t:
                fail(at, f"the argument {parameter} of {name} has another type", a.type, t)
            if isinstance(a, Array) and not a.writable and not kind.const:
                fail(at, f"the argument {parameter} of {name} cannot be written to", "an input",
                     f"const {t}*")  # fmt: skip
        kinds = tuple(type(a).__name__ for a in args)
        key = name, wanted, kinds, tuple(sorted(bound.items()))
        if key not in self.made:
            self._write(node, wanted, kinds, bound, key)
        return self.made[key][0], wanted, self.made[key][1]

    def _type(self, kind, bound, templates):
        if kind.name in templates:
            return None
        return bound.get(kind.name) or self.placeholders.get(kind.name, kind.name)

    def _write(self, node, wanted, kinds, bound, key):
        result = self._type(node.result, bound, ())
        python = f"f{len(self.made)}_{node.name}"
        self.made[key] = python, result
        t = Translator({**self.placeholders, **bound}, self)
        parameters = []
        for (kind, name), w, passed in zip(node.parameters, wanted, kinds):
            fields = {}
            if passed == "Array":
                fields = {"raw": True, "writable": not kind.const, "why": "const"}
            elif passed == "Place":
                fields = {"pointer": kind.reference == "*"}
            made = t.declare(name, w, **fields)
            parameters.append(made.text)
            if passed == "Place":
                t.given_back.append(made.text)
        t.result = result
        t.body_of_function(node, parameters, python)
        self.lines += t.lines


class Translator:
    """Writes statements as lines. placeholders: names of types to dtypes' names."""

    def __init__(self, placeholders, functions):
        self.placeholders, self.functions = placeholders, functions
        self.lines, self.indent = [], ""
        self.scopes = [{}, {}]  # the preamble's constants, then the parameters
        self.used, self.count = set(), 0
        self.loops = []  # what `continue` has to do first, for each loop around; a switch's flag
        self.result = "void"
        self.given_back = []  # variables that the caller has passed the addresses of
        self.on_return = None  # for bodies of elements: lines that store them

    # Lines and names
    def emit(self, line):
        self.lines.append(self.indent + line)

    def temporary(self, text):
        self.count += 1
        name = f"t{self.count}"
        self.emit(f"{name} = {text}")
        return name

    def declare(self, name, type, **fields):
        """A new variable in the innermost scope."""
        text, k = f"v_{name}", 1
        while text in self.used:
            k += 1
            text = f"v_{name}_{k}"
        self.used.add(text)
        made = self.scopes[-1][name] = Name(text, type, **fields)
        return made

    def find(self, at, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in maths.CONSTANTS:
            t, value = maths.CONSTANTS[name]
            return Name(constant(t, value).text, t, writable=False)
        names = sorted({n for s in self.scopes for n in s if not n.startswith("_")})
        return fail(at, f"'{name}' is not declared", f"'{name}'", f"one of {', '.join(names)}")

    def type_of(self, made):
        """The dtype's name that a type stands for."""
        return self.placeholders.get(made.name, made.name)

    def convert(self, value, t, at=None):
        """The text of a value in another type, as C converts it."""
        if value.type == t:
            return value.text
        if value.known is not None and types.kind(t) != "c":
            return constant(t, value.known).text
        if value.type == "void" or not isinstance(value.text, str):
            fail(at, "this has no value", "void", t)
        if t == "bool":
            return f"({value.text} != {value.type}(0))"
        if types.kind(value.type) == "c" and types.kind(t) != "c":
            if at is not None:
                fail(at, "a complex number is not converted to a real one", value.type,
                     "real(x) or imag(x)")  # fmt: skip
            return f"{t}(({value.text}).real)"
        return f"{t}({value.text})"

    def truth(self, node):
        return self.convert(self.value(node), "bool", node.at)

    # Expressions
    def value(self, node):
        """The Value of an expression; lines that have to come before are emitted."""
        return getattr(self, f"value_{node.kind}")(node)

    def numbers(self, *nodes):
        """Values of expressions, evaluated in order."""
        out = []
        for node in nodes:
            before = len(self.lines)
            found = self.value(node)
            if len(self.lines) > before and out:
                # This one changes something: those before it keep what they were.
                kept = self.lines[before:]
                del self.lines[before:]
                out = [Value(self.temporary(v.text), v.type) for v in out]
                self.lines += kept
            out.append(found)
        for node, v in zip(nodes, out):
            if v.type == "void":
                fail(node.at, "this has no value", "void", "a number")
        return out

    def value_number(self, node):
        text = node.at.text.lower()
        if not text.startswith("0x") and (any(c in text for c in ".e") or text.endswith("f")):
            t = "float32" if text.endswith("f") else "float64"
            return constant(t, float(text.rstrip("fl")))
        digits = text.rstrip("ul")
        suffix = text[len(digits) :]
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        number = int(digits, 8) if octal else int(digits, 0)
        decimal = digits[0] != "0" or digits == "0"
        tries = ["int32", "uint32", "int64", "uint64"]
        if "u" in suffix:
            tries = ["uint32", "uint64"]
        elif decimal:
            tries = ["int32", "int64"]
        if "l" in suffix:
            tries = [t for t in tries if t.endswith("64")]
        for t in tries:
            if number <= numpy.iinfo(t).max:
                return constant(t, number)
        return fail(node.at, "a number that is too large", text, "at most 64 bits")

    def value_truth(self, node):
        return constant("bool", node.value)

    def value_name(self, node):
        return Value(*self.place(node, False))

    def value_comma(self, node):
        self.effect(node.left)
        return self.value(node.right)

    def value_sizeof(self, node):
        size = numpy.dtype(self.type_of(node.type)).itemsize
        return Value(f"uint64({size})", "uint64")

    def value_cast(self, node):
        t = self.type_of(node.type)
        if node.value is None:
            values = self.numbers(*node.args)
            if types.kind(t) == "c" and len(values) == 2:
                part = "float32" if t == "complex64" else "float64"
                re, im = [self.convert(v, part, node.at) for v in values]
                return Value(f"{t}(complex({re}, {im}))", t)
            if not values:
                return Value(f"{t}(0)", t)
            if len(values) > 1:
                fail(node.at, f"too many arguments of {node.at.text}", len(values), 1)
            return self.converted(values[0], t, node.at)
        if t == "void":
            self.effect(node.value)
            return Value("None", "void")
        (v,) = self.numbers(node.value)
        return self.converted(v, t, node.at)

    def converted(self, value, t, at=None):
        """A value in another type, as C converts it."""
        if value.known is not None and types.kind(t) != "c":
            return constant(t, value.known)
        return Value(self.convert(value, t, at), t)

    def value_unary(self, node):
        op = node.op
        if op == "&":
            fail(node.at, "an address is for functions only", "'&'", "a value")
        if op == "!":
            return Value(f"(not {self.truth(node.value)})", "bool")
        if op == "*":
            return Value(*self.target(node, False))
        (v,) = self.numbers(node.value)
        t = types.promoted(v.type)
        if op == "~" and types.kind(t) not in "iu":
            fail(node.at, "bits of a number that is no integer", t, "an integer")
        v = self.converted(v, t)
        if v.known is not None:
            value = v.known.item()
            if op != "+":
                value = -value if op == "-" else ~value
            return constant(t, value)
        return Value(v.text if op == "+" else f"({op}{v.text})", t)

    def value_binary(self, node):
        op = node.op
        if op in ("&&", "||"):
            return self._short(node, op)
        a, b = self.numbers(node.left, node.right)
        return self.operate(node.at, op, a, b)

    def operate(self, at, op, a, b):
        """The Value of `a op b`."""
        if op in ("<<", ">>"):
            t = types.promoted(a.type)
            if types.kind(t) not in "iu" or types.kind(b.type) not in "biu":
                fail(at, "a shift of numbers that are no integers", f"{a.type}, {b.type}",
                     "integers")  # fmt: skip
            a, b = self.converted(a, t), self.converted(b, t)
            if a.known is not None and b.known is not None:
                made = folded(op, t, a.known, b.known)
                if made is not None:
                    return made
            return Value(f"({a.text} {op} {b.text})", t)
        t = types.common(a.type, b.type)
        a, b = self.converted(a, t), self.converted(b, t)
        x, y = a.text, b.text
        if op in _COMPARE:
            if types.kind(t) == "c" and op not in ("==", "!="):
                fail(at, "complex numbers have no order", t, "real numbers")
            if a.known is not None and b.known is not None:
                return folded(op, t, a.known, b.known)
            return Value(f"({x} {op} {y})", "bool")
        if op in ("%", "&", "|", "^") and types.kind(t) not in "iu":
            hint = "fmod(a, b)" if op == "%" else "integers"
            fail(at, f"'{op}' of numbers that are no integers", f"{a.type}, {b.type}", hint)
        if a.known is not None and b.known is not None:
            made = folded(op, t, a.known, b.known)
            if made is not None:
                return made
        if op == "/" and types.kind(t) == "i":
            return Value(f"runtime.divide({x}, {y})", t)
        if op == "%" and types.kind(t) == "i":
            return Value(f"np.fmod({x}, {y})", t)
        return Value(f"({x} {'//' if op == '/' and types.kind(t) == 'u' else op} {y})", t)

    def _short(self, node, op):
        left = self.truth(node.left)
        before = len(self.lines)
        indent, self.indent = self.indent, self.indent + "    "
        right = self.truth(node.right)
        self.indent = indent
        if len(self.lines) == before:
            return Value(f"({left} {'and' if op == '&&' else 'or'} {right})", "bool")
        inner = self.lines[before:]
        del self.lines[before:]
        name = self.temporary(left)
        self.emit(f"if {name if op == '&&' else 'not ' + name}:")
        self.lines += inner
        self.emit(f"    {name} = {right}")
        return Value(name, "bool")

    def value_choose(self, node):
        condition = self.truth(node.condition)
        before = len(self.lines)
        indent, self.indent = self.indent, self.indent + "    "
        yes = self.value(node.yes)
        middle = len(self.lines)
        no = self.value(node.no)
        self.indent = indent
        if "void" in (yes.type, no.type):
            fail(node.at, "a choice without a value", "void", "if (…) …; else …;")
        t = yes.type if yes.type == no.type else types.common(yes.type, no.type)
        a, b = self.convert(yes, t), self.convert(no, t)
        if len(self.lines) == before:
            return Value(f"({a} if {condition} else {b})", t)
        first, second = self.lines[before:middle], self.lines[middle:]
        del self.lines[before:]
        name = self.temporary(zero(t))
        self.emit(f"if {condition}:")
        self.lines += [*first, f"{self.indent}    {name} = {a}", f"{self.indent}else:"]
        self.lines += [*second, f"{self.indent}    {name} = {b}"]
        return Value(name, t)

    def place(self, node, write=True):
        """(Python text of a place that can be assigned to, its type)."""
        if node.kind == "name":
            name = self.find(node.at, node.name)
            if name.raw or name.sizes is not None:
                fail(node.at, "an array is no value", f"'{node.name}'", f"{node.name}[index]")
            if name.pointer:
                fail(node.at, "a pointer is no value", f"'{node.name}'", f"*{node.name}")
            if write and not name.writable:
                fail(node.at, f"'{node.name}' cannot be assigned to", name.why, "a variable")
            return name.text, name.type
        if node.kind == "index":
            return self.element(node, write)
        if node.kind == "unary" and node.op == "*":
            return self.target(node, write)
        return fail(node.at, "this cannot be assigned to", "an expression", "a variable")

    def target(self, node, write):
        """(text, type) of *pointer."""
        inner = node.value
        name = self.find(inner.at, inner.name) if inner.kind == "name" else None
        if name is not None and name.pointer:
            return name.text, name.type
        if name is not None and (name.raw or name.sizes is not None):
            first = Token("number", "0", inner.at.source, inner.at.place)
            index = Node("number", first)
            return self.element(Node("index", inner.at, value=inner, index=index), write)
        return fail(node.at, "this is no pointer", "a value", "a parameter such as 'int *p'")

    def passed(self, node):
        """What a pointer or a reference is given: an Array or a Place."""
        if node.kind == "name":
            name = self.find(node.at, node.name)
            if name.raw or name.sizes is not None:
                return Array(name.text, name.type, name.writable)
            if name.pointer:
                return Place(name.text, name.type)
        if node.kind == "unary" and node.op == "&":
            inner = node.value
            if inner.kind == "index":
                text, t = self.element(inner, False)
                base = self.find(inner.value.at, inner.value.name)
                array, index = text[:-1].split("[", 1)
                if "," in index and base.sizes is not None and len(base.sizes) > 1:
                    fail(node.at, "an address inside of such an array", "several axes", "one axis")
                return Array(f"{array}[{index}:]", t, base.writable)
            return Place(*self.place(inner))
        return Place(*self.place(node))

    def element(self, node, write):
        """(text, type) of array[index]."""
        indices, base = [node.index], node.value
        while base.kind == "index":
            indices.insert(0, base.index)
            base = base.value
        if base.kind != "name":
            fail(node.at, "this has no elements", "an expression", "an array's name")
        name = self.find(base.at, base.name)
        if name.pointer and len(indices) == 1 and self.constant(indices[0]) == 0:
            return name.text, name.type
        if not name.raw and name.sizes is None:
            fail(base.at, "this has no elements", f"'{base.name}' of type {name.type}",
                 f"'raw … {base.name}' among the kernel's arguments")  # fmt: skip
        if write and not name.writable:
            fail(base.at, f"'{base.name}' cannot be written to", name.why, "an output")
        count = 1 if name.raw else len(name.sizes)
        if len(indices) != count:
            fail(node.at, f"wrong number of subscripts of '{base.name}'", len(indices), count)
        texts = []
        for v, i in zip(self.numbers(*indices), indices):
            if types.kind(v.type) not in "biu":
                fail(i.at, "a subscript that is no integer", v.type, "an integer")
            texts.append(self.convert(v, "int32") if v.type == "bool" else v.text)
        return f"{name.text}[{', '.join(texts)}]", name.type

    def _extent(self, node):
        """x.shape()[axis] or x.strides()[axis] of a raw argument."""
        member, axis = node.value, self.constant(node.index)
        name = self.find(member.value.at, member.value.name)
        if not name.raw or name.rank is None:
            fail(member.at, "this has no shape", f"'{member.value.name}'", "a raw argument")
        if axis is None or not 0 <= axis < name.rank:
            fail(node.index.at, "no such axis", "an expression" if axis is None else axis,
                 f"a number from 0 to {name.rank - 1}")  # fmt: skip
        return Value(f"{name.text}_{member.name}[{axis}]", "int64")

    def value_index(self, node):
        base = node.value
        if base.kind == "member" and base.name in ("shape", "strides") and base.args == []:
            if base.value.kind == "name":
                return self._extent(node)
        return Value(*self.element(node, False))

    def _assign(self, node):
        """Emits an assignment; gives the place."""
        if node.op:
            # C++ evaluates the right side first, and the place once.
            (v,) = self.numbers(node.value)
            before = len(self.lines)
            text, t = self.place(node.target)
            if len(self.lines) > before:
                v = self._held_before(before, v)
            made = self.operate(node.at, node.op, Value(text, t), v)
        else:
            (made,) = self.numbers(node.value)
            before = len(self.lines)
            text, t = self.place(node.target)
            if len(self.lines) > before:
                made = self._held_before(before, made)
        self.emit(f"{text} = {self.convert(made, t, node.at)}")
        return Value(text, t)

    def _held_before(self, before, v):
        later = self.lines[before:]
        del self.lines[before:]
        held = Value(self.temporary(v.text), v.type)
        self.lines += later
        return held

    def value_assign(self, node):
        made = self._assign(node)
        return Value(self.temporary(made.text), made.type)

    def value_step(self, node):
        text, t = self.place(node.target)
        if node.before:
            self._step(node, text, t)
            return Value(self.temporary(text), t)
        kept = self.temporary(text)
        self._step(node, text, t)
        return Value(kept, t)

    def _step(self, node, text, t):
        made = self.operate(node.at, node.op, Value(text, t), Value("int32(1)", "int32"))
        self.emit(f"{text} = {self.convert(made, t)}")

    def value_member(self, node):
        base = node.value
        if base.kind == "name" and base.name in _MEMBERS and node.name in "xyz":
            return Value(f"uint32({base.name}.{node.name})", "uint32")
        if base.kind == "name" and base.name in ("_ind", "_in_ind", "_out_ind"):
            if node.name == "size" and node.args == []:
                return Value(self.find(base.at, base.name + ".size").text, "int64")
            fail(node.at, "not supported of an indexer", node.name, f"{base.name}.size()")
        if base.kind == "name":
            name = self.find(base.at, base.name)
            if name.raw:
                if node.name == "size" and node.args == []:
                    return Value(f"int64({name.text}.size)", "int64")
                if node.name == "ndim" and node.args is None and name.rank is not None:
                    return constant("int32", name.rank)
                fail(node.at, "not supported of a raw argument", node.name,
                     "size(), shape()[axis], strides()[axis], ndim, [index]")  # fmt: skip
        if node.name in ("real", "imag") and not node.args:
            (v,) = self.numbers(base)
            if types.kind(v.type) == "c":
                part = "float32" if v.type == "complex64" else "float64"
                return Value(f"({v.text}).{node.name}", part)
        return fail(node.at, "no such member", f"'.{node.name}'", "x.size() of raw arguments, "
                    "z.real() and z.imag() of complex numbers")  # fmt: skip

    def value_call(self, node):
        name = node.name
        if name in self.functions.by_name:
            return self._own(node, name)
        if name in maths.ATOMICS:
            return self._atomic(node)
        if not maths.known(name):
            import difflib

            near = difflib.get_close_matches(name, [*maths.NAMES, *self.functions.by_name], 3)
            fail(node.at, f"no such function: {name}", f"'{name}'",
                 ", ".join(near) or "a function of C's math.h, or one of the preamble")  # fmt: skip
        args = self.numbers(*node.args)
        found = maths.call(name, args, lambda v, t: self.convert(v, t, node.at))
        if isinstance(found, int):
            fail(node.at, f"wrong number of arguments of {name}", len(args), found)
        return Value(*found)

    def _own(self, node, name):
        """A call of a preamble's function. What it is given the address of comes back beside its
        result, and is assigned."""
        pattern = self.functions.candidates(node.at, name, len(node.args))[0].parameters
        values = [a for a, (kind, _) in zip(node.args, pattern) if not kind.reference]
        values = iter(self.numbers(*values))
        args = [
            self.passed(a) if kind.reference else next(values)
            for a, (kind, _) in zip(node.args, pattern)
        ]
        template = None if node.template is None else self.type_of(node.template)
        python, wanted, result = self.functions.call(node.at, name, args, template)
        given = [
            self.convert(a, t, node.at) if isinstance(a, Value) else a.text
            for a, t in zip(args, wanted)
        ]
        call = f"{python}({', '.join(given)})"
        places = [a for a in args if isinstance(a, Place)]
        if not places:
            return Value(call, result)
        found = self.temporary(call)
        parts = [] if result == "void" else [None]
        parts += places
        for k, place in enumerate(parts):
            if place is not None:
                self.emit(f"{place.text} = {found}[{k}]" if len(parts) > 1
                          else f"{place.text} = {found}")  # fmt: skip
        if result == "void":
            return Value("None", "void")
        return Value(self.temporary(f"{found}[0]"), result)

    def _atomic(self, node):
        count = 3 if node.name == "atomicCAS" else 2
        if len(node.args) != count:
            fail(node.at, f"wrong number of arguments of {node.name}", len(node.args), count)
        target = node.args[0]
        if target.kind == "unary" and target.op == "&":
            target = target.value
        elif target.kind == "name":
            first = Token("number", "0", target.at.source, target.at.place)
            target = Node("index", target.at, value=target, index=Node("number", first))
        if target.kind != "index":
            fail(node.at, f"{node.name} takes an element's address", "a value", "&array[index]")
        text, t = self.element(target, True)
        array, index = text[:-1].split("[", 1)
        args = [self.convert(v, t, node.at) for v in self.numbers(*node.args[1:])]
        call = f"atomic.{maths.ATOMICS[node.name]}({array}, {index}, {', '.join(args)})"
        return Value(call, t)

    # Statements
    def effect(self, node):
        """An expression whose value nobody takes."""
        if node.kind == "assign":
            self._assign(node)
        elif node.kind == "step":
            self._step(node, *self.place(node.target))
        elif node.kind == "comma":
            self.effect(node.left)
            self.effect(node.right)
        elif node.kind == "choose":
            self.if_(node.at, node.condition, lambda: self.effect(node.yes),
                     lambda: self.effect(node.no))  # fmt: skip
        else:
            v = self.value(node)
            if node.kind == "call":
                if v.type == "void":
                    self.emit(v.text)
                else:
                    self.temporary(v.text)

    def block(self, statements):
        """Statements in a scope of their own, one level in."""
        indent, self.indent = self.indent, self.indent + "    "
        self.scopes.append({})
        before = len(self.lines)
        for s in statements:
            self.statement(s)
        if len(self.lines) == before:
            self.emit("pass")
        self.scopes.pop()
        self.indent = indent

    def statement(self, node):
        """Emits a statement."""
        kind = node.kind
        if kind == "do":
            self.effect(node.value)
        elif kind == "block":
            self.scopes.append({})
            for s in node.body:
                self.statement(s)
            self.scopes.pop()
        elif kind == "declare":
            self.declaration(node)
        elif kind == "if":
            no = None if node.no is None else lambda: self.statement(node.no)
            self.if_(node.at, node.condition, lambda: self.statement(node.yes), no)
        elif kind == "loop":
            self.loop(node)
        elif kind == "switch":
            self.switch(node)
        elif kind == "break":
            if not self.loops:
                fail(node.at, "a break outside of a loop", "'break'", "'continue' or 'return'")
            self.emit("break")
        elif kind == "continue":
            if not any(callable(turn) for turn in self.loops):
                self.leave(node, None)
            elif callable(self.loops[-1]):
                self.loops[-1]()
                self.emit("continue")
            else:
                # Out of the switch first, which then goes on with the loop around it.
                self.emit(f"{self.loops[-1]} = True")
                self.emit("break")
        elif kind == "return":
            self.leave(node, node.value)
        else:
            raise AssertionError(kind)

    def if_(self, at, condition, yes, no):
        self.emit(f"if {self.truth(condition)}:")
        self._branch(yes)
        if no is not None:
            self.emit("else:")
            self._branch(no)

    def _branch(self, write):
        indent, self.indent = self.indent, self.indent + "    "
        self.scopes.append({})
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.emit("pass")
        self.scopes.pop()
        self.indent = indent

    def loop(self, node):
        self.scopes.append({})
        if node.first is not None:
            self.statement(node.first)
        indent = self.indent
        if node.late:
            self.emit("while True:")
        else:
            begin = len(self.lines)
            self.indent += "    "
            text = "True" if node.condition is None else self.truth(node.condition)
            self.indent = indent
            inner = self.lines[begin:]
            del self.lines[begin:]
            if inner:
                self.emit("while True:")
                self.lines += inner
                self.emit(f"    if not {text}:")
                self.emit("        break")
            else:
                self.emit(f"while {text}:")

        def turn():
            if node.step is not None:
                self.effect(node.step)
            if node.late:
                self.emit(f"if not {self.truth(node.condition)}:")
                self.emit("    break")

        self.loops.append(turn)
        self.indent += "    "
        self.scopes.append({})
        before = len(self.lines)
        self.statement(node.body)
        self.scopes.pop()
        turn()
        if len(self.lines) == before:
            self.emit("pass")
        self.indent = indent
        self.loops.pop()
        self.scopes.pop()

    def switch(self, node):
        """A loop of one turn, so that breaks leave it; a case runs if it is met or fallen into."""
        (v,) = self.numbers(node.value)
        if types.kind(v.type) not in "biu":
            fail(node.at, "a switch over a number that is no integer", v.type, "an integer")
        held = Value(self.temporary(v.text), v.type)
        met, tests = [], []
        for labels, _ in node.cases:
            own = [
                self.operate(x.at, "==", held, *self.numbers(x)).text
                for x in labels
                if x is not None
            ]
            met += own
            tests.append((own, None in labels))
        inside, again = self.temporary("False"), self.temporary("False")
        self.emit("while True:")
        indent, self.indent = self.indent, self.indent + "    "
        self.scopes.append({})
        self.loops.append(again)
        for (own, default), (_, body) in zip(tests, node.cases):
            if default and met:
                own = [*own, f"not ({' or '.join(met)})"]
            self.emit(f"if {'True' if default and not met else ' or '.join([inside, *own])}:")
            self.indent += "    "
            self.emit(f"{inside} = True")
            for s in body:
                self.statement(s)
            self.indent = self.indent[:-4]
        self.emit("break")
        self.loops.pop()
        self.scopes.pop()
        self.indent = indent
        if has(node.inside, "continue") and any(callable(turn) for turn in self.loops):
            self.emit(f"if {again}:")
            self.indent += "    "
            self.statement(Node("continue", node.at))
            self.indent = indent

    def leave(self, node, value):
        """return, or a `continue` that goes on with the next element."""
        if self.on_return is not None:
            if value is not None:
                fail(node.at, "an element's code returns nothing", "a value", "an assignment")
            self.on_return()
            self.emit("return")
            return
        if (value is None) != (self.result == "void"):
            fail(node.at, "what is returned does not fit the function",
                 "nothing" if value is None else "a value", self.result)  # fmt: skip
        self.give(None if value is None else self.numbers(value)[0], node.at)

    def give(self, value, at):
        """Emits the return of a function, with what it gives back."""
        parts = [] if value is None else [self.convert(value, self.result, at)]
        self.emit("return " + ", ".join([*parts, *self.given_back]))

    def declaration(self, node):
        t = self.type_of(node.type)
        if t == "void":
            fail(node.at, "a variable of no type", "void", "a number's type")
        for item in node.items:
            if item.sizes:
                self._array(item, t)
                continue
            if item.value is None:
                if t == "auto":
                    fail(item.at, "auto needs a value", "none", f"auto {item.name} = …")
                name = self.declare(item.name, t)
                self.emit(f"{name.text} = {zero(t)}")
                continue
            value = item.value
            if value.kind == "braces":
                if len(value.items) > 1:
                    fail(value.at, "several values for a number", len(value.items), 1)
                value = value.items[0]
            (v,) = self.numbers(value)
            text = v.text if t == "auto" else self.convert(v, t, item.at)
            name = self.declare(item.name, v.type if t == "auto" else t)
            self.emit(f"{name.text} = {text}")

    def _array(self, item, t):
        sizes = []
        for k, size in enumerate(item.sizes):
            if size is None and k == 0 and item.value is not None and item.value.kind == "braces":
                sizes.append(len(item.value.items))
            else:
                found = None if size is None else self.constant(size)
                if found is None or found < 1:
                    fail(item.at, "an array's size is not known when the kernel is made",
                         f"'{item.name}'", "a positive whole number")  # fmt: skip
                sizes.append(found)
        name = self.declare(item.name, t, sizes=sizes)
        shape = str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))
        dtype = "bool_" if t == "bool" else t
        self.emit(f"{name.text} = local.array({shape}, {dtype})")
        if item.value is None:
            return
        if item.value.kind != "braces":
            fail(item.at, "an array from one value", "a value", "{…}")
        for where in numpy.ndindex(*sizes):
            value = item.value
            for k in where:
                inside = value is not None and k < len(value.items)
                value = value.items[k] if inside else None
                if value is None:
                    break
            if value is None:
                text = zero(t)
            else:
                (v,) = self.numbers(value)
                text = self.convert(v, t, value.at)
            self.emit(f"{name.text}[{', '.join(map(str, where))}] = {text}")

    def constant(self, node):
        """The whole number that an expression of numbers is, else None."""
        if node.kind == "number":
            try:
                return int(node.at.text.lower().rstrip("ul"), 0)
            except ValueError:
                return None
        if node.kind == "binary" and node.op in "+-*/":
            a, b = self.constant(node.left), self.constant(node.right)
            if a is None or b is None or (node.op == "/" and not b):
                return None
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[node.op]
        return None

    # Whole functions
    def body_of_function(self, node, parameters, python):
        """A preamble's function as a Python function."""
        self.emit(f"def {python}({', '.join(parameters)}):")
        self.indent = "    "
        self.constants(node.body)
        for s in node.body:
            self.statement(s)
        if self.result == "void":
            self.give(None, node.at)
        self.indent = ""

    def constants(self, body):
        """The preamble's constants that a body names, as variables around it."""
        used, before = names_in(body), None
        items = [item for node in self.functions.constants for item in node.items]
        while used != before:
            before = set(used)
            used |= names_in([item.value for item in items if item.name in used])
        inner = self.scopes.pop()
        for node in self.functions.constants:
            if any(item.name in used for item in node.items):
                self.declaration(node)
        self.scopes.append(inner)

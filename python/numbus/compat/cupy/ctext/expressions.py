"""Expressions of C text as Python text: their types, and the order in which they take effect."""

import difflib

import numpy

from . import maths, types
from .parser import Node
from .tokens import Token, fail
from .values import COMPARE, Array, Lvalue, Value, constant, folded, zero

_MEMBERS = frozenset(["threadIdx", "blockIdx", "blockDim", "gridDim"])


class Expressions:
    """The part of the translator that knows expressions."""

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
        return Value(*self.lvalue(node, False))

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
        if op in COMPARE:
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

    def lvalue(self, node, write=True):
        """(Python text of what can be assigned to, its type)."""
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
            first = Token("number", "0", inner.at.source, inner.at.position)
            index = Node("number", first)
            return self.element(Node("index", inner.at, value=inner, index=index), write)
        return fail(node.at, "this is no pointer", "a value", "a parameter such as 'int *p'")

    def passed(self, node):
        """What a pointer or a reference is given: an Array or an Lvalue."""
        if node.kind == "name":
            name = self.find(node.at, node.name)
            if name.raw or name.sizes is not None:
                return Array(name.text, name.type, name.writable)
            if name.pointer:
                return Lvalue(name.text, name.type)
        if node.kind == "unary" and node.op == "&":
            inner = node.value
            if inner.kind == "index":
                text, t = self.element(inner, False)
                base = self.find(inner.value.at, inner.value.name)
                array, index = text[:-1].split("[", 1)
                if "," in index and base.sizes is not None and len(base.sizes) > 1:
                    fail(node.at, "an address inside of such an array", "several axes", "one axis")
                return Array(f"{array}[{index}:]", t, base.writable)
            return Lvalue(*self.lvalue(inner))
        return Lvalue(*self.lvalue(node))

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
        """Emits an assignment; gives what was assigned to."""
        if node.op:
            # C++ evaluates the right side first, and the left one once.
            (v,) = self.numbers(node.value)
            before = len(self.lines)
            text, t = self.lvalue(node.target)
            if len(self.lines) > before:
                v = self._held_before(before, v)
            made = self.operate(node.at, node.op, Value(text, t), v)
        else:
            (made,) = self.numbers(node.value)
            before = len(self.lines)
            text, t = self.lvalue(node.target)
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
        text, t = self.lvalue(node.target)
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
        lvalues = [a for a in args if isinstance(a, Lvalue)]
        if not lvalues:
            return Value(call, result)
        found = self.temporary(call)
        parts = [] if result == "void" else [None]
        parts += lvalues
        for k, lvalue in enumerate(parts):
            if lvalue is not None:
                self.emit(f"{lvalue.text} = {found}[{k}]" if len(parts) > 1
                          else f"{lvalue.text} = {found}")  # fmt: skip
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
            first = Token("number", "0", target.at.source, target.at.position)
            target = Node("index", target.at, value=target, index=Node("number", first))
        if target.kind != "index":
            fail(node.at, f"{node.name} takes an element's address", "a value", "&array[index]")
        text, t = self.element(target, True)
        array, index = text[:-1].split("[", 1)
        args = [self.convert(v, t, node.at) for v in self.numbers(*node.args[1:])]
        call = f"atomic.{maths.ATOMICS[node.name]}({array}, {index}, {', '.join(args)})"
        return Value(call, t)

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

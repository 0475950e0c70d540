"""From the tree of C text to lines of Python that compile to the same: scopes, statements and
functions."""

import numpy

from . import maths, types
from .expressions import Expressions
from .parser import Node
from .tokens import fail
from .values import Array, Name, Value, constant, has, names_in, zero


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

        args: each a Value, an Array or an Lvalue. Parameters of the latter two have their types.
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
            elif passed == "Lvalue":
                fields = {"pointer": kind.reference == "*"}
            made = t.declare(name, w, **fields)
            parameters.append(made.text)
            if passed == "Lvalue":
                t.given_back.append(made.text)
        t.result = result
        t.body_of_function(node, parameters, python)
        self.lines += t.lines


class Translator(Expressions):
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

    # Statements
    def effect(self, node):
        """An expression whose value nobody takes."""
        if node.kind == "assign":
            self._assign(node)
        elif node.kind == "step":
            self._step(node, *self.lvalue(node.target))
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
            if not any(callable(advance) for advance in self.loops):
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

    def if_(self, _at, condition, yes, no):
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

        def advance():
            if node.step is not None:
                self.effect(node.step)
            if node.late:
                self.emit(f"if not {self.truth(node.condition)}:")
                self.emit("    break")

        self.loops.append(advance)
        self.indent += "    "
        self.scopes.append({})
        before = len(self.lines)
        self.statement(node.body)
        self.scopes.pop()
        advance()
        if len(self.lines) == before:
            self.emit("pass")
        self.indent = indent
        self.loops.pop()
        self.scopes.pop()

    def switch(self, node):
        """A loop of one iteration, which breaks leave; a case runs if it is met or fallen into."""
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
        if has(node.inside, "continue") and any(callable(advance) for advance in self.loops):
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

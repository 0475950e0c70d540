"""From a function of the program's to one of the kernel language that loops call.

It gives whether its result is certain, and the result. Where it is not (an int beyond 64 bits, an
exception), the loop is left before the statement with the call, which CPython then carries out: a
function that has no effects may be begun again.
"""

import ast

from . import calls, emit
from .functions import DEEPEST
from .numbers import CODES, STORES, Unsupported

_ZERO = {"i": "0", "f": "0.0", "b": "False", "c": "complex(0.0, 0.0)"}
_CONVERT = {"i": "int", "f": "float", "b": "bool", "c": ""}


class FunctionEmitter(emit.Emitter):
    """Emits a function for the kinds of its arguments: of numbers, or arrays as in `fixed`."""

    def __init__(self, called, arguments, made):
        kinds, fixed = {}, dict(called.fixed)
        self.numbers, self.arrays = [], []
        of_object = [f"{called.first}.{x}" for x in called.attributes]
        for name, a in zip([*called.parameters, *of_object], arguments, strict=True):
            if isinstance(a, tuple):
                fixed[name] = a
                self.arrays.append(a)
            elif name in of_object:
                given = name.replace(".", "_of_")
                convert = _CONVERT[STORES[a]]
                fixed[name] = ("number", a, f"{convert}({given}_p)")
                self.numbers.append(given)
            else:
                kinds[name] = a
                self.numbers.append(name)
        names = [n for n in called.names if n not in fixed]
        entry = {n: kinds.get(n, "o") for n in names}
        super().__init__(None, names, fixed, entry, FunctionEmitter, made)
        self._called, self._kinds = called, arguments
        self._returned = {}  # by the number of a line: the kind

    def function(self, name):
        """(kind of the result, lines, arrays that are passed)."""
        env = {n: frozenset([k]) for n, k in self.entry.items()}
        assigned = {
            x.id
            for x in ast.walk(self._called.tree)
            if isinstance(x, ast.Name) and not isinstance(x.ctx, ast.Load)
        }
        if not assigned.isdisjoint(n for n, f in self.fixed.items() if isinstance(f, tuple)):
            raise Unsupported(f"'{self._called.name}', which assigns to what was an array")
        try:
            if self._statements(self._called.tree.body, env) is not None:
                self.leave(0)
        except emit.NotCompiled as why:
            raise Unsupported(f"'{self._called.name}': {why}") from None
        kinds = {
            kind
            for line, kind in self._returned.items()
            if line < len(self.lines) and self.lines[line].lstrip().startswith("return True, ")
        }
        if len(kinds) != 1:
            raise Unsupported(f"'{self._called.name}', whose result has several types, or none")
        (kind,) = kinds
        body, self.lines, self.level = self.lines, [], 1
        arrays = list({a[5]: a for a in self.arrays}.values())
        self.extents(arrays)
        for n in self.names:
            self.line(f"{n}_t = 0")
            for store, zero in _ZERO.items():
                given = STORES.get(self.entry[n]) == store
                convert = _CONVERT[store]
                self.line(f"{n}_{store} = " + (f"{convert}({n}_p)" if given else zero))
        zero = ", ".join(_ZERO[STORES[k]] for k in kind.strip("["))
        given = [f"{n}_p" for n in self.numbers] + [*calls.passed(arrays), "true_", "false_"]
        if self._called.calls_itself:
            given.append("depth_")
            self.check(f"depth_ > {DEEPEST} or interrupted()")
        text = [x.replace("return False, ?", f"return False, {zero}") for x in self.lines + body]
        return kind, [f"def {name}({', '.join(given)}):", *text], arrays

    def _assign(self, n, env):
        targets = [n.target] if isinstance(n, ast.AugAssign) else n.targets
        if any(isinstance(t, ast.Subscript) for of in targets for t in ast.walk(of)):
            # What has had an effect could not be begun again.
            raise Unsupported(f"'{self._called.name}', which assigns to elements")
        return super()._assign(n, env)

    def _append(self, call, env):
        raise Unsupported(f"'{self._called.name}', which appends to a list")

    def _pop(self, n, env):
        raise Unsupported(f"'{self._called.name}', which takes items of a list")

    def leave(self, _):
        """Ends the function without a result."""
        self.line("return False, ?")

    def note_returned(self, kind):
        """Notes the kind of the result that the next line returns."""
        at = len(self.lines)
        self._returned = {k: v for k, v in self._returned.items() if k < at}
        self._returned[at] = kind

    def _return(self, n, env):
        def emit_it(e):
            value = self.value(n.value, e)
            if value.kind not in CODES:
                raise Unsupported("a result of this type")
            self.note_returned(value.kind)
            self.line(f"return True, {value.text}")

        self._tried(n, emit.names_read(n.value, self.names), env, emit_it)

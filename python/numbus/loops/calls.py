"""Calls in loops: of Python's functions that are known, and of functions of the program's."""

import ast

from . import generators, numbers
from .numbers import CODES, Unsupported, Value


class Calls:
    """The part of an emitter that emits calls."""

    def _call(self, n, env):
        name = n.func.id if isinstance(n.func, ast.Name) else f"{n.func.value.id}.{n.func.attr}"
        if isinstance(n.func, ast.Name) and n.func.id in self.entry:
            raise Unsupported(f"a call of '{name}'")
        what = self.fixed.get(name, "o")
        if not isinstance(what, tuple) or what[0] not in ("call", "function", "method", "self"):
            raise Unsupported(f"a call of '{name}'")
        if what[0] == "method":
            return self._call_of(what[1], n, env, n.func.value.id)
        if what[0] != "call":
            return self._call_of(self._called if what[0] == "self" else what[1], n, env)
        if n.keywords:
            raise Unsupported(f"a call of '{name}' with names of arguments")
        if what[1] == "len":
            if len(n.args) != 1:
                raise Unsupported("len() of several values")
            return self._length(n.args[0], env)
        if what[1] in generators.NAMES and len(n.args) == 1:
            return self.fold(what[1], n, env)
        if what[1] in numbers.OF_LINES:
            return self.sum_of(n, env) if what[1] == "numbus.sum" else self.product_of(n, env)
        args = [self._kept(self.value(a, env)) for a in n.args]
        return numbers.call(self, what[1], args)

    def _call_of(self, called, n, env, of=None):
        """A call of a function of the program's; of: the name of the object of a method."""
        given, kinds = [], []
        for a in _arguments(called, n):
            if isinstance(a, Value):
                kinds.append(a.kind)
                given.append(a.text)
                continue
            array = self._array(a)
            if array is not None:
                kinds.append(array)
                continue
            v = self._kept(self.value(a, env))
            if v.kind not in CODES:
                raise Unsupported(f"a call of '{called.name}' with this type")
            kinds.append(v.kind)
            given.append(v.text)
        for x in called.attributes:
            array = self.fixed.get(f"{of}.{x}")
            if isinstance(array, tuple) and array[0] == "array":
                kinds.append(array)
                continue
            v = self._number(f"{of}.{x}")
            kinds.append(v.kind)
            given.append(v.text)
        name, kind, _, arrays = self._function(called, tuple(kinds))
        self.temporaries += 1
        ok, r = f"t{self.temporaries}", f"r{self.temporaries}"
        given += [*passed(arrays), "true_", "false_"]
        if called.calls_itself:
            given.append("depth_ + 1" if called == self._called else "0")
        self.line(f"{ok}, {r} = {name}({', '.join(given)})")
        self.check(f"not {ok}")
        return Value(r, kind)

    def _function(self, called, kinds):
        key = called, kinds
        if key not in self.made:
            name = f"call{len(self.made) + 1}"
            self.made[key] = None  # so long as it is not known
            try:
                found = self._emitted(name, called, kinds)
            except Unsupported as why:
                self.made[key] = str(why)
                raise
            del self.made[key]  # after those that it calls
            self.made[key] = found
        found = self.made[key]
        if isinstance(found, tuple) and (found[2] or key == (self._called, self._kinds)):
            return found
        if isinstance(found, str):
            raise Unsupported(found)
        raise Unsupported(f"'{called.name}', which calls itself by others")

    def _emitted(self, name, called, kinds):
        """(name, kind of the result, lines, arrays) of a function for arguments of these kinds."""
        if not called.calls_itself:
            return name, *self.of_function(called, kinds, self.made).function(name)
        arrays = list({k[5]: k for k in kinds if isinstance(k, tuple)}.values())
        why = None
        for guess in "ifb":  # the kind of its result has to be known where it calls itself
            self.made[called, kinds] = name, guess, (), arrays
            try:
                found = self.of_function(called, kinds, self.made).function(name)
            except Unsupported as error:
                why = why or error
                continue
            if found[0] == guess:
                return name, *found
        raise why or Unsupported(f"'{called.name}', whose result has several types")

    def _length(self, n, env):
        """len(a), or len(m[i]) of a list of rows."""
        if isinstance(n, ast.Name) and n.id in self.entry:
            array, at = self._row_of(n.id, env)
            if array is not None:
                return Value(self.extent(array, at), "i")
        array = self._array(n)
        if array is not None:
            return Value(f"{array[5]}_0", "i")
        array = self._array(n.value) if isinstance(n, ast.Subscript) else None
        if array is None or array[6] != "list" or array[3] != 2:
            raise Unsupported("len() of this")
        self._position(array, 0, self.value(n.slice, env))
        return Value(f"{array[5]}_1", "i")


def _arguments(called, n):
    """The nodes of what a call gives to each parameter, or Value for a default."""
    bound = dict(zip(called.parameters, n.args))
    for k in n.keywords:
        if k.arg in bound:
            raise Unsupported(f"a call of '{called.name}' with an argument twice")
        bound[k.arg] = k.value
    for name, of in called.defaults.items():
        if name not in bound and of[0] == "number":
            bound[name] = Value(of[2], of[1])
    if len(n.args) > len(called.parameters) or set(bound) != set(called.parameters):
        raise Unsupported(f"a call of '{called.name}' with other arguments than it has")
    return [bound[p] for p in called.parameters]


def passed(arrays):
    """The arguments of a function that arrays are: of lists that grow their lengths, too."""
    return [a[5] for a in arrays] + [f"{a[5]}_0" for a in arrays if a[6] == "grows"]

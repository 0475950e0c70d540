"""Where elements are: arrays and lists that loops read, and their rows under names."""

import ast

from . import heads, made_lists, numbers, select
from .numbers import Unsupported, Value


class Places:
    """The part of an emitter that finds elements."""

    def _sequences(self, n, over, env, others=("ours", "grows")):
        """(array, indices) of the arrays, lists and rows that a loop goes over, and Numbers of
        ranges; others: the kinds of those that it may not.
        """
        parts, of_ranges = [], iter(heads.ranges(n))
        for name in over.parts:
            if not isinstance(name, str):
                parts.append(next(of_ranges))
                continue
            array, at = self.fixed.get(name), ()
            if name in self.entry:
                array, at = self._row_of(name, env)
                if n is self.loop or name in select.assigned(n):
                    array = None
                elif select.appended(n) & {*self.made_names}:
                    array = None  # it may be the one that grows
            if not isinstance(array, tuple) or array[0] != "array" or array[6] in others:
                raise Unsupported(f"a loop over '{name}', which is no list or array of numbers")
            if array[3] - len(at) > 1 and (at or int(array[5][1:]) >= len(numbers.ROWS)):
                raise Unsupported("a loop over parts of a part of an array")
            parts.append((array, at))
        return parts

    def _row_of(self, name, env):
        """(array, its indices) of a name that is assigned to, where it holds a row."""
        kinds = env[name]
        if len(kinds) == 1 and not kinds.isdisjoint(numbers.MADE):
            return made_lists.array_of(*kinds), (f"{name}_i",)
        k = numbers.ROWS.get(*kinds) if len(kinds) == 1 else None
        if k is None:
            return None, ()
        return self.by_parameter[f"a{k}"], (f"{name}_i",)

    def _items(self, n, over, env):
        """Assigns to the names in the head of a loop over items: the kinds of names."""
        values = []
        for part in self._sequences(n, over, env):
            if isinstance(part, heads.Numbers):
                values.append(Value(f"({part.first} + k{n.at} * {part.step})", "i"))
                continue
            array, at = part
            if array[3] - len(at) > 1:
                values.append(Value(f"k{n.at}", kind_of_rows(array)))
            else:
                values.append(numbers.load(array, self.index(array, at, f"k{n.at}")))
        if over.around == "enumerate":
            values.insert(0, Value(f"k{n.at} + {over.start}" if over.start else f"k{n.at}", "i"))
        kinds = {}
        for name, v in zip(heads.targets(n), values):
            self._set(name, v)
            kinds[name] = frozenset(v.kind)
        return kinds

    def _array(self, n):
        found = self.fixed.get(heads.name_of(n))
        return found if isinstance(found, tuple) and found[0] == "array" else None

    def _element(self, n, env):
        """The array that an element belongs to, and the text of its index, which is inside."""
        parts = []
        while isinstance(n, ast.Subscript):
            items = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
            parts[:0] = [items]
            n = n.value
        array, index = self._array(n), []
        if isinstance(n, ast.Name) and n.id in self.entry:
            array, at = self._row_of(n.id, env)
            index = list(at)
        if array is None:
            raise Unsupported("an element of what is no array or list of numbers")
        if array[6] not in numbers.ARRAYS and any(len(p) > 1 for p in parts):
            raise Unsupported("an index of a list that is a tuple")
        items = [i for p in parts for i in p]
        if len(items) + len(index) != array[3]:
            raise Unsupported("a part of an array")
        if not self.checks_now:
            return self.element_in_strip(array, index, items, env)
        for d, item in enumerate(items, len(index)):
            known, text = self._known_bound(array, d, item)
            v = Value(text, "i") if text else self.value(item, env)
            index.append(self._position(array, d, v, known, index))
        return array, self.index(array, index[:-1], index[-1])

    @staticmethod
    def extent(array, at):
        """The text of how many elements there are along the axis after these indices."""
        if array[6] == "made":
            return f"({at[0]} & {made_lists.COUNT})"
        return f"{array[5]}_{len(at)}"

    @staticmethod
    def index(array, at, last):
        """The text of an index, whose parts are inside."""
        if array[6] == "made":
            return f"({at[0]} >> {made_lists.SHIFT}) + {last}"
        return ", ".join((*at, last))

    def _known_bound(self, array, axis, item):
        """(which bound an index is known to keep, its text) of one in `bounded`."""
        of = (array[5], axis, ast.unparse(item)) if self.bounded else None
        return self.bounded.get(of, (None, None))

    def _position(self, array, axis, v, known=None, at=()):
        """The name of an index that is inside; known: the bound that it keeps; at: the indices
        before it.
        """
        if v.kind not in numbers.INTEGERS:
            raise Unsupported("an index that is no integer")
        i = self.temporary(v.text)
        extent = self.extent(array, at) if array[6] == "made" else f"{array[5]}_{axis}"
        if known == "both":
            return i
        if known != "low":
            self.block(f"if {i} < 0:")
            self.line(f"{i} += {extent}")
            self.end()
        bounds = {"low": f"{i} >= {extent}", "high": f"{i} < 0"}
        self.check(bounds.get(known) or f"{i} < 0 or {i} >= {extent}")
        return i


def kind_of_rows(array):
    """The kind of a name that holds a row of an array."""
    if array[6] == "made":
        return next(kind for kind, item in numbers.MADE.items() if item == array[1])
    number = int(array[5][1:])
    if number >= len(numbers.ROWS):
        raise Unsupported("rows of so many arrays")
    return chr(0xE000 + number)

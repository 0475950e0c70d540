"""Slices of lists in loops, to which numbers are assigned that leave the list as long as it is."""

import ast

from . import numbers, select
from .numbers import Unsupported, Value


class ListParts:
    """The part of an emitter that emits these assignments."""

    def store_repeated(self, n, env):
        """Carries out `list[slice] = [element] * count`, which leaves the list as long as it is;
        False: it is another assignment.
        """
        found = select.repeated(n)
        if found is None:
            return False
        (target,) = n.targets
        array = self._array(target.value)
        if array is None or array[6] not in ("list", "bools") or array[3] > 1:
            raise Unsupported("a slice of what is no list of numbers")
        count = self.value(found[1], env)
        if count.kind != "i":
            raise Unsupported("a list times something else than an int")
        text = self.temporary(numbers.to_store(self, array, self.value(found[0], env)))
        first, step, places = self._bounds(f"{array[5]}_0", target.slice, env)
        self.check(f"max({count.text}, 0) != {places}")
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.block(f"for {t} in range({places}):")
        self.line(f"{array[5]}[{first} + {t} * {step}] = {text}")
        self.end()
        return True

    def store_copied(self, n, env):
        """Carries out `list[slice] = other[slice]`, or `= other`, of as many numbers; False: it is
        another assignment.
        """
        if not isinstance(n, ast.Assign) or len(n.targets) > 1:
            return False
        (target,) = n.targets
        if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Slice):
            return False
        array, at = self._items_of(target.value, env)
        part = isinstance(n.value, ast.Subscript) and isinstance(n.value.slice, ast.Slice)
        other, index = self._items_of(n.value.value if part else n.value, env)
        if "ours" in (array[6], other[6]) or "array" in (array[6], other[6]):
            raise Unsupported("a slice of what is no list of numbers")
        if other[1] != array[1] or other[6] == "items" or array[6] in ("items", "grows"):
            raise Unsupported("a slice of a list from numbers of another type")
        to, by, count = self._part_of(self.extent(array, at), target.slice, env)
        extent = self.extent(other, index)
        first, step, given = self._part_of(extent, n.value.slice if part else ast.Slice(), env)
        self.check(f"{given} != {count}")
        self.temporaries += 1
        t, held = f"t{self.temporaries}", self.list_scratch(array[1])
        self.check(f"{count} > {held}.shape[0]")
        item = numbers.to_store(self, array, Value(f"{held}[{t}]", array[1]))
        for head, text in (
            (given, f"{held}[{t}] = {self._at(other, index, first, t, step)}"),
            (count, f"{self._at(array, at, to, t, by, False)} = {item}"),
        ):
            self.block(f"for {t} in range({head}):")
            self.line(text)
            self.end()
        return True

    def _items_of(self, n, env):
        """(array, indices) of a list, or of a row of a list of lists."""
        array, at = self._array(n), ()
        if isinstance(n, ast.Name) and n.id in self.entry:
            array, at = self._row_of(n.id, env)
        elif array is None and isinstance(n, ast.Subscript):
            array = self._array(n.value)
            if array is not None and not isinstance(n.slice, (ast.Slice, ast.Tuple)):
                at = (self._position(array, 0, self.value(n.slice, env)),)
        if array is None or array[3] != len(at) + 1:
            raise Unsupported("a slice of what is no list of numbers")
        return array, at

    def _at(self, array, at, first, t, step, loads=True):
        index = self.index(array, at, f"{first} + {t} * {step}")
        return numbers.load(array, index).text if loads else f"{array[5]}[{index}]"

    def list_scratch(self, kind):
        """The name of an array for items that are copied."""
        if not self.checks_now or self._called is not None:
            raise Unsupported("a slice of a list in a function or a strip")
        name = f"items_{kind}"
        self.item_scratches = self.item_scratches | {name}
        return name

    item_scratches = frozenset()

    def _part_of(self, extent, n, env):
        """(first, step, count) of a slice of a list."""
        step = n.step
        if step is not None and ast.unparse(step) == "-1":
            last = f"({extent} - 1)"
            ends = self.ends(n, env, extent, (last, "-1"), "-1", last)
            return ends[0], "-1", self.temporary(f"max({ends[0]} - {ends[1]}, 0)")
        return self._bounds(extent, n, env)
